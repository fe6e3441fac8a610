// The kinds of layers and the columns that each has: the one table that parsing goes by.
#pragma once

#include <span>
#include <string_view>

namespace cellblock::charts {

enum class Kind {
    line,
    step,
    ecdf,
    kde,
    area,
    band,
    scatter,
    bar,
    hist,
    hist2d,
    heatmap,
    image,
    pie,
    box,
    boxen,
    violin,
    errorbar,
    stem,
    contour,
    contourf,
    hexbin,
    quiver,
    event,
    gantt,
    candlestick,
    line3d,
    scatter3d,
    bar3d,
    surface,
    flow,
    shape,
    table,
    unknown,
};

std::string_view to_string(Kind kind);
// Kind::unknown for a name that is none of ours.
Kind kind_from(std::string_view name);

enum class Shape {
    numbers,  // a column of numbers, missing ones as NaN
    texts,    // a column of strings
    colors,   // a column of colours, empty where there is none
    lists,    // a column of number lists, each of its own length
    grid,     // rows of numbers, all equally long
    words,    // rows of strings, all equally long
    number,   // one number
    flag,     // one boolean
    word,     // one of a few words
    stack,    // the group that a bar or area stands in: a name, or {group, order, normalize}
    levels,   // boxenplot's [[lo, hi], ...] per box
    paths,    // iso-lines: [{level, pts: [[x, y], ...]}, ...]
    z_grid,   // {x, y, v}
    counts,   // {name: count}
};

enum class Need { required, optional };
enum class Length { row, free };  // row: as long as the layer's other row columns

struct FieldRule {
    std::string_view name;
    Shape shape;
    Need need = Need::optional;
    Length length = Length::row;
};

std::span<const FieldRule> fields_of(Kind kind);

}  // namespace cellblock::charts
