"""Tables with geometries: geopandas, which the image does not have, brought into the sandbox."""

import sys
from pathlib import Path

import pytest
from support.awkward_frames import PATIENCE
from support.gateway import ROOT
from support.paths import cache_folder

sys.path.insert(0, str(ROOT / "vm" / "image"))
import wheels  # noqa: E402

LOCK = Path(__file__).parent / "support" / "geo.lock"

UNPACK = """
import glob, os, sys, zipfile
for wheel in glob.glob("*.whl"):
    zipfile.ZipFile(wheel).extractall("geo")
    os.unlink(wheel)
sys.path.insert(0, "geo")
"""

FRAME = """
import geopandas, shapely
places = geopandas.GeoDataFrame(
    {"city": ["Oslo", "Rome", "nowhere"]},
    geometry=[shapely.Point(10.75, 59.9139), shapely.Point(1 / 3, 41.9), None], crs="EPSG:4326")
"""


@pytest.fixture(scope="module")
def geo(gateway):
    """A sandbox where geopandas can be imported."""
    cache = cache_folder() / "test-geo"
    sandbox = gateway.create_sandbox(timeout=1200)
    for wheel in sorted(wheels.fetch(LOCK, cache, print).glob("*.whl")):
        path = f"/sandboxes/{sandbox}/files/{wheel.name}"
        assert gateway.request("PUT", path, data=wheel.read_bytes()).status_code == 201
    run = gateway.execute(UNPACK + PATIENCE + FRAME, sandbox=sandbox, timeout=600)
    assert run.error is None, run.error
    yield sandbox
    gateway.delete_sandbox(sandbox)


def test_geometries_are_texts_that_say_how_to_read_them(gateway, geo):
    run = gateway.execute("places", sandbox=geo)
    assert run.error is None, run.error
    result = run.results[0]
    assert "<table" in result["html"]
    points = ["POINT (10.75 59.9139)", "POINT (0.3333333333333333 41.9)", None]
    assert result["data"] == {"city": ["Oslo", "Rome", "nowhere"], "geometry": points}
    (table,) = [artifact for artifact in run.artifacts if artifact["kind"] == "table"]
    column = table["preview"]["schema"][1]
    assert column["name"] == "geometry" and column["dtype"] == "geometry"
    assert column["nulls"] == 1
    assert (
        column["note"]
        == "geometry as WKT, EPSG:4326, within x 0.333333 to 10.75, y 41.9 to 59.9139"
    )
    page = gateway.request("GET", table["url"] + "/rows", params={"sort": "city"}).json()
    assert page["rows"] == [["Oslo", points[0]], ["Rome", points[1]], ["nowhere", None]]


def test_what_is_stored_is_exactly_what_was_there_however_long(gateway, geo):
    run = gateway.execute(
        """
import numpy as np
angle = np.linspace(0, 2 * np.pi, 20_001)[:-1]
coast = shapely.Polygon(np.column_stack([np.cos(angle), np.sin(angle)]) / 3)
geopandas.GeoSeries([coast, shapely.Point(0.1, 0.2, 1e-300)], name="shape")
""",
        sandbox=geo,
    )
    assert run.error is None, run.error
    (table,) = [artifact for artifact in run.artifacts if artifact["kind"] == "table"]
    stored = gateway.request("GET", table["url"]).content
    path = f"/sandboxes/{geo}/files/stored.arrow"
    assert gateway.request("PUT", path, data=stored).status_code == 201
    back = gateway.execute(
        """
import pyarrow as pa
texts = pa.ipc.open_file("stored.arrow").read_all().to_pandas()["shape"]
back = geopandas.GeoSeries.from_wkt(texts)
print(back[0].equals_exact(coast, 0), back[1].z, len(texts[0]) > 100_000)
""",
        sandbox=geo,
    )
    assert back.stdout.split() == ["True", "1e-300", "True"], (back.stdout, back.error)


def test_geometries_among_other_objects_are_texts_too(gateway, geo):
    run = gateway.execute(
        "import pandas as pd; pd.DataFrame({'o': [shapely.Point(1, 2), 'text']})", sandbox=geo
    )
    assert run.error is None, run.error
    assert run.results[0]["data"] == {"o": ["POINT (1 2)", "text"]}
