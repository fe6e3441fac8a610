// Kinds by name, and the columns of each (see kinds.h).
#include "charts/kinds.h"

#include <array>
#include <utility>

namespace cellblock::charts {

namespace {

using enum Shape;
using enum Need;
using enum Length;

constexpr std::array<std::pair<Kind, std::string_view>, 33> names{{
    {Kind::line, "line"},
    {Kind::step, "step"},
    {Kind::ecdf, "ecdf"},
    {Kind::kde, "kde"},
    {Kind::area, "area"},
    {Kind::band, "band"},
    {Kind::scatter, "scatter"},
    {Kind::bar, "bar"},
    {Kind::hist, "hist"},
    {Kind::hist2d, "hist2d"},
    {Kind::heatmap, "heatmap"},
    {Kind::image, "image"},
    {Kind::pie, "pie"},
    {Kind::box, "box"},
    {Kind::boxen, "boxen"},
    {Kind::violin, "violin"},
    {Kind::errorbar, "errorbar"},
    {Kind::stem, "stem"},
    {Kind::contour, "contour"},
    {Kind::contourf, "contourf"},
    {Kind::hexbin, "hexbin"},
    {Kind::quiver, "quiver"},
    {Kind::event, "event"},
    {Kind::gantt, "gantt"},
    {Kind::candlestick, "candlestick"},
    {Kind::line3d, "line3d"},
    {Kind::scatter3d, "scatter3d"},
    {Kind::bar3d, "bar3d"},
    {Kind::surface, "surface"},
    {Kind::flow, "flow"},
    {Kind::shape, "shape"},
    {Kind::table, "table"},
    {Kind::unknown, "unknown"},
}};

constexpr FieldRule line_fields[] = {
    {"x", numbers, required}, {"y", numbers, required}, {"step", word}};
constexpr FieldRule area_fields[] = {{"x", numbers, required},
                                     {"lo", numbers, required},
                                     {"hi", numbers, required},
                                     {"stack", stack}};
constexpr FieldRule scatter_fields[] = {
    {"x", numbers, required}, {"y", numbers, required}, {"size", numbers}, {"c", numbers},
    {"label", texts},         {"text", texts},          {"color", colors}};
constexpr FieldRule bar_fields[] = {{"pos", numbers, required}, {"value", numbers, required},
                                    {"base", numbers},          {"width", numbers},
                                    {"cat", numbers},           {"err_lo", numbers},
                                    {"err_hi", numbers},        {"label", texts},
                                    {"color", colors},          {"stack", stack}};
constexpr FieldRule hist_fields[] = {{"edges", numbers, required, free},
                                     {"count", numbers, required},
                                     {"base", numbers},
                                     {"density", flag},
                                     {"cumulative", flag},
                                     {"stack", stack}};
constexpr FieldRule grid_fields[] = {{"v", grid, required},
                                     {"x_edges", numbers, optional, free},
                                     {"y_edges", numbers, optional, free},
                                     {"x_cats", texts, optional, free},
                                     {"y_cats", texts, optional, free},
                                     {"text", words}};
constexpr FieldRule image_fields[] = {{"w", number, required},
                                      {"h", number, required},
                                      {"extent", numbers, optional, free},
                                      {"png_ref", word}};
constexpr FieldRule pie_fields[] = {
    {"label", texts, required}, {"frac", numbers, required}, {"value", numbers},
    {"angle0", numbers},        {"angle1", numbers},         {"r", numbers},
    {"r_inner", numbers},       {"explode", numbers},        {"color", colors}};
constexpr FieldRule box_fields[] = {{"label", texts, required},
                                    {"pos", numbers, required},
                                    {"min", numbers, required},
                                    {"q1", numbers, required},
                                    {"median", numbers, required},
                                    {"q3", numbers, required},
                                    {"max", numbers, required},
                                    {"mean", numbers},
                                    {"ci_lo", numbers},
                                    {"ci_hi", numbers},
                                    {"width", numbers},
                                    {"outliers", lists},
                                    {"cat", numbers}};
constexpr FieldRule boxen_fields[] = {{"label", texts, required},
                                      {"pos", numbers, required},
                                      {"levels", levels, required},
                                      {"median", numbers},
                                      {"outliers", lists}};
constexpr FieldRule violin_fields[] = {{"label", texts, required},
                                       {"pos", numbers, required},
                                       {"coords", lists, required},
                                       {"half_lo", lists, required},
                                       {"half_hi", lists, required},
                                       {"min", numbers},
                                       {"max", numbers},
                                       {"mean", numbers},
                                       {"median", numbers},
                                       {"q1", numbers},
                                       {"q3", numbers},
                                       {"cat", numbers}};
constexpr FieldRule errorbar_fields[] = {{"x", numbers, required}, {"y", numbers, required},
                                         {"x_lo", numbers},        {"x_hi", numbers},
                                         {"y_lo", numbers},        {"y_hi", numbers}};
constexpr FieldRule stem_fields[] = {
    {"pos", numbers, required}, {"value", numbers, required}, {"base", numbers}};
constexpr FieldRule contour_fields[] = {
    {"levels", numbers, required, free}, {"z", z_grid}, {"paths", paths}};
constexpr FieldRule hexbin_fields[] = {{"x", numbers, required},
                                       {"y", numbers, required},
                                       {"v", numbers, required},
                                       {"dx", number},
                                       {"dy", number}};
constexpr FieldRule quiver_fields[] = {{"x", numbers, required},
                                       {"y", numbers, required},
                                       {"u", numbers, required},
                                       {"v", numbers, required},
                                       {"c", numbers}};
constexpr FieldRule event_fields[] = {
    {"pos", lists, required}, {"offsets", numbers}, {"label", texts}};
constexpr FieldRule gantt_fields[] = {{"row", numbers, required}, {"start", numbers, required},
                                      {"end", numbers, required}, {"height", numbers},
                                      {"cat", numbers},           {"color", colors}};
constexpr FieldRule candlestick_fields[] = {{"t", numbers, required},
                                            {"o", numbers, required},
                                            {"h", numbers, required},
                                            {"l", numbers, required},
                                            {"c", numbers, required}};
constexpr FieldRule spatial_fields[] = {
    {"x", numbers, required}, {"y", numbers, required}, {"z", numbers, required}, {"c", numbers}};
constexpr FieldRule bar3d_fields[] = {{"x", numbers, required},  {"y", numbers, required},
                                      {"z", numbers, required},  {"dx", numbers, required},
                                      {"dy", numbers, required}, {"dz", numbers, required}};
constexpr FieldRule surface_fields[] = {
    {"x", grid}, {"y", grid}, {"z", grid}, {"faces", number}, {"bbox", numbers, optional, free}};
constexpr FieldRule flow_fields[] = {{"segments", number}, {"bbox", numbers, optional, free}};
constexpr FieldRule shape_fields[] = {
    {"artists", counts}, {"n", number}, {"bbox", numbers, optional, free}};
constexpr FieldRule table_fields[] = {{"columns", texts, required, free},
                                      {"rows", words, required}};

}  // namespace

std::string_view to_string(Kind kind) {
    for (const auto& [value, name] : names) {
        if (value == kind) return name;
    }
    return "unknown";
}

Kind kind_from(std::string_view name) {
    for (const auto& [value, known] : names) {
        if (known == name) return value;
    }
    return Kind::unknown;
}

std::span<const FieldRule> fields_of(Kind kind) {
    switch (kind) {
        case Kind::line:
        case Kind::step:
        case Kind::ecdf:
        case Kind::kde:
            return line_fields;
        case Kind::area:
        case Kind::band:
            return area_fields;
        case Kind::scatter:
            return scatter_fields;
        case Kind::bar:
            return bar_fields;
        case Kind::hist:
            return hist_fields;
        case Kind::hist2d:
        case Kind::heatmap:
            return grid_fields;
        case Kind::image:
            return image_fields;
        case Kind::pie:
            return pie_fields;
        case Kind::box:
            return box_fields;
        case Kind::boxen:
            return boxen_fields;
        case Kind::violin:
            return violin_fields;
        case Kind::errorbar:
            return errorbar_fields;
        case Kind::stem:
            return stem_fields;
        case Kind::contour:
        case Kind::contourf:
            return contour_fields;
        case Kind::hexbin:
            return hexbin_fields;
        case Kind::quiver:
            return quiver_fields;
        case Kind::event:
            return event_fields;
        case Kind::gantt:
            return gantt_fields;
        case Kind::candlestick:
            return candlestick_fields;
        case Kind::line3d:
        case Kind::scatter3d:
            return spatial_fields;
        case Kind::bar3d:
            return bar3d_fields;
        case Kind::surface:
            return surface_fields;
        case Kind::flow:
            return flow_fields;
        case Kind::shape:
        case Kind::unknown:
            return shape_fields;
        case Kind::table:
            return table_fields;
    }
    return shape_fields;
}

}  // namespace cellblock::charts
