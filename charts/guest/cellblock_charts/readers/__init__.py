"""The readers, in the order in which they claim artists: the certain ones come first."""

from __future__ import annotations

from typing import Any, Callable

from . import (areas, bars, boxes, contours, errors, events, grids, hists, lines, pies, points,
               refs, shapes, spatial, texts, vectors, violins)

Reader = Callable[[Any], None]

FLAT: list[tuple[str, Reader]] = [
    ("artist", shapes.probe),
    ("seaborn legend helpers", shapes.drop_helpers),
    ("pie", pies.read),
    ("box", boxes.read),
    ("boxen", boxes.read_boxen),
    ("violin", violins.read),
    ("histogram", hists.read),
    ("bar", bars.read),
    ("error bar", errors.read),
    ("stem", errors.read_stems),
    ("image", grids.read_images),
    ("mesh", grids.read_meshes),
    ("contour", contours.read),
    ("hexbin", points.read_hexbins),
    ("area", areas.read),
    ("flow", vectors.read_flows),
    ("vectors", vectors.read),
    ("events", events.read),
    ("scatter", points.read),
    ("segments", events.read_segments),
    ("stairs", hists.read_stairs),
    ("reference", refs.read),
    ("line", lines.read),
    ("table", texts.read_tables),
    ("text", texts.read),
    ("rest", shapes.read),
]

SPATIAL: list[tuple[str, Reader]] = [
    ("3-D", spatial.read),
    ("text", texts.read),
    ("rest", shapes.read),
]
