"""Reference lines and bands: what axhline, axvline, axline, axhspan and axvspan draw."""

from __future__ import annotations

import numpy

from ..encode import floats, number
from ..reading import Reading, is_a


def _parts(reading: Reading, artist: object) -> tuple[bool, bool]:
    transform = artist.get_transform()  # type: ignore[attr-defined]
    return tuple(transform.contains_branch_seperately(reading.ax.transData))


def read(reading: Reading) -> None:
    for line in list(reading.free("Line2D")):
        if is_a(line, "AxLine", "_AxLine"):
            reading.claim(line)
            _sloped(reading, line)
            continue
        parts = _parts(reading, line)
        x, y = floats(line.get_xdata(orig=False)), floats(line.get_ydata(orig=False))
        if parts == (False, True) and len(y) and (y == y[0]).all():
            reading.claim(line)
            reading.ref(line, kind="hline", value=number(reading.y.value(y[0])))
        elif parts == (True, False) and len(x) and (x == x[0]).all():
            reading.claim(line)
            reading.ref(line, kind="vline", value=number(reading.x.value(x[0])))
    for patch in list(reading.free("Rectangle", "Polygon")):
        parts = _parts(reading, patch)
        if parts not in ((False, True), (True, False)):
            continue
        reading.claim(patch)
        points = patch.get_path().vertices
        if is_a(patch, "Rectangle"):
            points = patch.get_patch_transform().transform(points)
        axis, column = (reading.y, 1) if parts == (False, True) else (reading.x, 0)
        ends = numpy.array([points[:, column].min(), points[:, column].max()])
        low, high = axis.values(ends)
        reading.ref(patch, kind="hspan" if column else "vspan",
                    lo=number(low), hi=number(high))


def _sloped(reading: Reading, line: object) -> None:
    first = getattr(line, "_xy1", None)
    second = getattr(line, "_xy2", None)
    slope = getattr(line, "_slope", None)
    if first is None:
        return
    if second is None:
        if slope is None or not numpy.isfinite(slope):
            second = (first[0], first[1] + 1)
        else:
            second = (first[0] + 1, first[1] + slope)
    ends = [[number(reading.x.value(x)), number(reading.y.value(y))]
            for x, y in (first, second)]
    reading.ref(line, kind="line", p1=ends[0], p2=ends[1])
