"""Values on a grid: images, colour meshes, two-dimensional histograms, annotated heat maps.

`v` is row-major and row i lies between y_edges[i] and y_edges[i+1]; edges always rise.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy

from .. import sample, scalar, text
from ..budget import GRID_CELLS
from ..encode import floats, number
from ..reading import Reading, is_a


def read_images(reading: Reading) -> None:
    for image in list(reading.free("AxesImage", "_ImageBase")):
        if is_a(image, "FigureImage", "BboxImage"):
            continue
        values = image.get_array()
        if values is None:
            continue
        reading.claim(image)
        if numpy.ndim(values) != 2:
            _picture(reading, image, values)
        elif is_a(image, "NonUniformImage", "PcolorImage"):
            _uneven(reading, image, floats(values))
        else:
            _image(reading, image, floats(values))


def _picture(reading: Reading, image: Any, values: Any) -> None:
    reading.add("image", image, {
        "w": values.shape[1], "h": values.shape[0],
        "extent": [number(end) for end in image.get_extent()]}, color="")["color"] = None


def _image(reading: Reading, image: Any, values: numpy.ndarray) -> None:
    left, right, bottom, top = (float(end) for end in image.get_extent())
    rows, columns = values.shape
    x_edges = numpy.linspace(left, right, columns + 1)
    first, last = (top, bottom) if image.origin == "upper" else (bottom, top)
    y_edges = numpy.linspace(first, last, rows + 1)
    _add(reading, image, "heatmap", x_edges, y_edges, values)


def _uneven(reading: Reading, image: Any, values: numpy.ndarray) -> None:
    x, y = floats(image._Ax), floats(image._Ay)
    if is_a(image, "NonUniformImage"):
        x, y = _edges_of(x), _edges_of(y)
    if len(x) == values.shape[1] + 1 and len(y) == values.shape[0] + 1:
        _add(reading, image, "heatmap", x, y, values)


def _edges_of(centres: numpy.ndarray) -> numpy.ndarray:
    if len(centres) < 2:
        return numpy.array([centres[0] - 0.5, centres[0] + 0.5])
    middle = (centres[:-1] + centres[1:]) / 2
    return numpy.concatenate(([2 * centres[0] - middle[0]], middle,
                              [2 * centres[-1] - middle[-1]]))


def read_meshes(reading: Reading) -> None:
    histograms = {id(note["artist"]) for method in ("hist2d", "pcolormesh")
                  for note in reading.noted(method)}
    for mesh in list(reading.free("QuadMesh", "PolyQuadMesh")):
        corners = getattr(mesh, "_coordinates", None)
        values = mesh.get_array()
        if corners is None or values is None:
            continue
        corners = floats(corners)
        shape = corners.shape[0] - 1, corners.shape[1] - 1
        smooth = getattr(mesh, "_shading", "flat") == "gouraud"
        if smooth:
            shape = corners.shape[:2]
        values = floats(values)
        if values.size != shape[0] * shape[1]:
            continue
        values = values.reshape(shape)
        x, y = corners[..., 0], corners[..., 1]
        if not ((x == x[0]).all() and (y.T == y[:, 0]).all()):
            continue  # a curved grid: reported as a shape
        reading.claim(mesh)
        x_edges, y_edges = x[0], y[:, 0]
        if smooth:
            x_edges, y_edges = _edges_of(x_edges), _edges_of(y_edges)
        kind = "hist2d" if id(mesh) in histograms else "heatmap"
        _add(reading, mesh, kind, x_edges, y_edges, values)


def _add(reading: Reading, artist: Any, kind: str, x_edges: numpy.ndarray,
         y_edges: numpy.ndarray, values: numpy.ndarray) -> None:
    if len(x_edges) > 1 and x_edges[0] > x_edges[-1]:
        x_edges, values = x_edges[::-1], values[:, ::-1]
    if len(y_edges) > 1 and y_edges[0] > y_edges[-1]:
        y_edges, values = y_edges[::-1], values[::-1]
    scalar.note(reading, artist)
    rows, columns = values.shape
    fields: dict[str, Any] = {"n": rows * columns}
    data: dict[str, Any] = {
        "text": _cell_texts(reading, x_edges, y_edges) if rows * columns <= 2500 else None,
        "x_cats": _names(reading.x, x_edges), "y_cats": _names(reading.y, y_edges)}
    limit = reading.budget.points(GRID_CELLS, 1)
    if rows * columns > limit:
        down, across = sample.grid_factors(rows, columns, limit)
        sample.note_full(fields, "block_mean", -(-rows // down) * -(-columns // across),
                         rows * columns, functools.partial(
                             _cells, reading, x_edges, y_edges, values))
        values = sample.block_mean(values, down, across)
        x_edges = sample.thin_edges(x_edges, across)
        y_edges = sample.thin_edges(y_edges, down)
        data.update(text=None, x_cats=data["x_cats"] if across == 1 else None,
                    y_cats=data["y_cats"] if down == 1 else None)
    data.update(x_edges=reading.x.values(x_edges), y_edges=reading.y.values(y_edges),
                v=values)
    reading.add(kind, artist, data, color="", **fields)["color"] = None


def _cells(reading: Reading, x_edges: numpy.ndarray, y_edges: numpy.ndarray,
           values: numpy.ndarray) -> dict[str, Any]:
    """Every cell as a row: the middle of the cell and its value."""
    x, y = (reading.x.values(x_edges), reading.y.values(y_edges))
    x, y = (x[:-1] + x[1:]) / 2, (y[:-1] + y[1:]) / 2
    return {"x": numpy.tile(x, len(y)), "y": numpy.repeat(y, len(x)), "v": values.ravel()}


def _names(axis: Any, edges: numpy.ndarray) -> list[str] | None:
    """Category names when hand-set ticks name every cell."""
    axis_known = axis.categories is not None
    fixed = axis.fixed_labels()
    if not axis_known and fixed is None:
        return None
    positions, labels = (axis.positions, axis.categories) if axis_known else fixed
    centres = (edges[:-1] + edges[1:]) / 2
    known = numpy.array(positions)
    names = []
    for index, centre in enumerate(centres):
        nearest = int(numpy.abs(known - centre).argmin())
        if abs(known[nearest] - centre) > abs(edges[index + 1] - edges[index]) / 2:
            return None
        names.append(labels[nearest])
    axis.use_fixed_labels()
    return names


def _cell_texts(reading: Reading, x_edges: numpy.ndarray,
                y_edges: numpy.ndarray) -> list[list[str]] | None:
    """Numbers written into the cells (a confusion matrix, seaborn's annot)."""
    columns, rows = len(x_edges) - 1, len(y_edges) - 1
    cells = [["" for _ in range(columns)] for _ in range(rows)]
    found = []
    for item in reading.free("Text"):
        if not reading.in_data(item):
            continue
        x, y = item.get_position()
        try:
            column = int(numpy.searchsorted(x_edges, float(x), side="right")) - 1
            row = int(numpy.searchsorted(y_edges, float(y), side="right")) - 1
        except (TypeError, ValueError):
            continue
        if 0 <= column < columns and 0 <= row < rows:
            cells[row][column] = text.plain(item.get_text())
            found.append(item)
    if len(found) < rows * columns / 2:
        return None
    reading.claim(found)
    return cells
