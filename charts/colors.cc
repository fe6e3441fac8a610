// Colours (see colors.h). The stops of the schemes are samples of the published colour maps:
// matplotlib's perceptual ones and ColorBrewer's.
#include "charts/colors.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

namespace cellblock::charts {

namespace {

constexpr std::size_t stop_count = 9;

struct Scheme {
    std::string_view name;
    std::array<std::string_view, stop_count> stops;
};

constexpr Scheme schemes[] = {
    {"viridis",
     {"#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30",
      "#fde725"}},
    {"plasma",
     {"#0d0887", "#4c02a1", "#7e03a8", "#aa2395", "#cc4778", "#e66c5c", "#f89540", "#fdc527",
      "#f0f921"}},
    {"inferno",
     {"#000004", "#210c4a", "#57106e", "#8a226a", "#bc3754", "#e45a31", "#f98e09", "#f9cb35",
      "#fcffa4"}},
    {"magma",
     {"#000004", "#1d1147", "#51127c", "#832681", "#b73779", "#e75263", "#fc8961", "#fec488",
      "#fcfdbf"}},
    {"cividis",
     {"#00224e", "#1f3b6d", "#434e6c", "#5f636e", "#7d7c78", "#9b9677", "#bcaf6f", "#dfc85f",
      "#fee838"}},
    {"turbo",
     {"#30123b", "#4662d7", "#36aaf9", "#1ae4b6", "#72fe5e", "#c8ef34", "#faba39", "#f66b19",
      "#7a0403"}},
    {"coolwarm",
     {"#3b4cc0", "#6282ea", "#8db0fe", "#b8d0f9", "#dddddd", "#f5c4ad", "#f49a7b", "#de604d",
      "#b40426"}},
    {"RdBu",
     {"#b2182b", "#d6604d", "#f4a582", "#fddbc7", "#f7f7f7", "#d1e5f0", "#92c5de", "#4393c3",
      "#2166ac"}},
    {"RdYlBu",
     {"#d73027", "#f46d43", "#fdae61", "#fee090", "#ffffbf", "#e0f3f8", "#abd9e9", "#74add1",
      "#4575b4"}},
    {"RdYlGn",
     {"#d73027", "#f46d43", "#fdae61", "#fee08b", "#ffffbf", "#d9ef8b", "#a6d96a", "#66bd63",
      "#1a9850"}},
    {"Spectral",
     {"#d53e4f", "#f46d43", "#fdae61", "#fee08b", "#ffffbf", "#e6f598", "#abdda4", "#66c2a5",
      "#3288bd"}},
    {"PiYG",
     {"#c51b7d", "#de77ae", "#f1b6da", "#fde0ef", "#f7f7f7", "#e6f5d0", "#b8e186", "#7fbc41",
      "#4d9221"}},
    {"Blues",
     {"#f7fbff", "#deebf7", "#c6dbef", "#9ecae1", "#6baed6", "#4292c6", "#2171b5", "#08519c",
      "#08306b"}},
    {"Greens",
     {"#f7fcf5", "#e5f5e0", "#c7e9c0", "#a1d99b", "#74c476", "#41ab5d", "#238b45", "#006d2c",
      "#00441b"}},
    {"Reds",
     {"#fff5f0", "#fee0d2", "#fcbba1", "#fc9272", "#fb6a4a", "#ef3b2c", "#cb181d", "#a50f15",
      "#67000d"}},
    {"Oranges",
     {"#fff5eb", "#fee6ce", "#fdd0a2", "#fdae6b", "#fd8d3c", "#f16913", "#d94801", "#a63603",
      "#7f2704"}},
    {"Purples",
     {"#fcfbfd", "#efedf5", "#dadaeb", "#bcbddc", "#9e9ac8", "#807dba", "#6a51a3", "#54278f",
      "#3f007d"}},
    {"Greys",
     {"#ffffff", "#f0f0f0", "#d9d9d9", "#bdbdbd", "#969696", "#737373", "#525252", "#252525",
      "#000000"}},
    {"YlGnBu",
     {"#ffffd9", "#edf8b1", "#c7e9b4", "#7fcdbb", "#41b6c4", "#1d91c0", "#225ea8", "#253494",
      "#081d58"}},
    {"YlOrRd",
     {"#ffffcc", "#ffeda0", "#fed976", "#feb24c", "#fd8d3c", "#fc4e2a", "#e31a1c", "#bd0026",
      "#800026"}},
    {"YlGn",
     {"#ffffe5", "#f7fcb9", "#d9f0a3", "#addd8e", "#78c679", "#41ab5d", "#238443", "#006837",
      "#004529"}},
    {"PuBu",
     {"#fff7fb", "#ece7f2", "#d0d1e6", "#a6bddb", "#74a9cf", "#3690c0", "#0570b0", "#045a8d",
      "#023858"}},
    {"hot",
     {"#0b0000", "#5c0000", "#ae0000", "#ff0000", "#ff5200", "#ffa400", "#fff600", "#ffff7b",
      "#ffffff"}},
    {"jet",
     {"#000080", "#0000ff", "#0080ff", "#00ffff", "#80ff80", "#ffff00", "#ff8000", "#ff0000",
      "#800000"}},
    {"rocket",
     {"#03051a", "#221331", "#4c1d4b", "#841e5a", "#cb1b4f", "#ed503e", "#f37651", "#f6b48f",
      "#faebdd"}},
    {"mako",
     {"#0b0405", "#231526", "#35264c", "#403a75", "#3d5296", "#366da0", "#3497a9", "#49c1ad",
      "#def5e5"}},
};

// Other names for nearly the same colours; `reversed` against ours.
struct Alias {
    std::string_view name, scheme;
    bool reversed = false;
};
constexpr Alias aliases[] = {{"gray", "Greys", true},
                             {"grey", "Greys", true},
                             {"bone", "Greys", true},
                             {"binary", "Greys"},
                             {"bwr", "RdBu", true},
                             {"seismic", "RdBu", true},
                             {"RdGy", "RdBu"},
                             {"vlag", "coolwarm"},
                             {"icefire", "coolwarm"},
                             {"BuGn", "Greens"},
                             {"GnBu", "YlGnBu"},
                             {"PuBuGn", "PuBu"},
                             {"BuPu", "Purples"},
                             {"PuRd", "Reds"},
                             {"OrRd", "Reds"},
                             {"YlOrBr", "Oranges"},
                             {"rainbow", "turbo"},
                             {"hsv", "turbo"},
                             {"gist_rainbow", "turbo"},
                             {"PRGn", "PiYG"},
                             {"BrBG", "RdYlBu"},
                             {"Hot", "hot"},
                             {"Jet", "jet"},
                             {"Viridis", "viridis"},
                             {"copper", "Oranges", true},
                             {"gist_heat", "hot"},
                             {"afmhot", "hot"},
                             {"flare", "YlOrRd"},
                             {"crest", "YlGnBu"}};

// matplotlib's "tab10", which most figures come in anyway.
constexpr std::array<std::string_view, 10> series_colors = {
    "#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd",
    "#8c564b", "#e377c2", "#7f7f7f", "#bcbd22", "#17becf"};

const Scheme* scheme_named(std::string_view name) {
    for (const Scheme& scheme : schemes) {
        if (scheme.name == name) return &scheme;
    }
    return nullptr;
}

double channel(std::string_view color, std::size_t at) {
    const auto digit = [](char c) -> int {
        if (c >= '0' && c <= '9') return c - '0';
        if (c >= 'a' && c <= 'f') return c - 'a' + 10;
        if (c >= 'A' && c <= 'F') return c - 'A' + 10;
        return 0;
    };
    return at + 1 < color.size() ? digit(color[at]) * 16 + digit(color[at + 1]) : 0;
}

double mixed(double from, double to, double part) {
    return from + (to - from) * part;
}

}  // namespace

Rgb rgb_of(std::string_view color) {
    return {channel(color, 1), channel(color, 3), channel(color, 5)};
}

std::string hex_of(const Rgb& color) {
    const auto byte = [](double value) {
        return static_cast<unsigned>(std::clamp(std::lround(value), 0L, 255L));
    };
    char buffer[16];
    std::snprintf(buffer, sizeof buffer, "#%02x%02x%02x", byte(color.red), byte(color.green),
                  byte(color.blue));
    return buffer;
}

std::string solid(std::string_view color) {
    return std::string(color.substr(0, 7));
}

double alpha_of(std::string_view color) {
    return color.size() == 9 ? channel(color, 7) / 255 : 1;
}

double luminance(const Rgb& color) {
    const auto linear = [](double value) {
        const double part = value / 255;
        return part <= 0.03928 ? part / 12.92 : std::pow((part + 0.055) / 1.055, 2.4);
    };
    return 0.2126 * linear(color.red) + 0.7152 * linear(color.green) + 0.0722 * linear(color.blue);
}

std::string series_color(std::size_t index) {
    return std::string(series_colors[index % series_colors.size()]);
}

std::vector<std::string> color_stops(std::string_view cmap) {
    bool reversed = cmap.ends_with("_r");
    if (reversed) cmap.remove_suffix(2);
    const Scheme* scheme = scheme_named(cmap);
    for (const Alias& alias : aliases) {
        if (scheme != nullptr || alias.name != cmap) continue;
        scheme = scheme_named(alias.scheme);
        reversed = reversed != alias.reversed;
    }
    if (scheme == nullptr) scheme = &schemes[0];
    std::vector<std::string> stops(scheme->stops.begin(), scheme->stops.end());
    if (reversed) std::reverse(stops.begin(), stops.end());
    return stops;
}

ColorRamp::ColorRamp(const std::optional<ColorScale>& scale, double lowest, double highest)
    : low_(lowest), high_(highest), stops_(color_stops(scale ? scale->cmap : "viridis")) {
    if (scale && scale->lim && (*scale->lim)[0] < (*scale->lim)[1]) {
        low_ = (*scale->lim)[0];
        high_ = (*scale->lim)[1];
    }
    if (!std::isfinite(low_) || !std::isfinite(high_)) {
        low_ = 0;
        high_ = 1;
    }
    if (!(low_ < high_)) high_ = low_ + 1;
    logarithmic_ = scale && scale->scale == "log" && low_ > 0;
}

std::string ColorRamp::color(double value) const {
    const double part = logarithmic_
                            ? std::log(std::max(value, 1e-300) / low_) / std::log(high_ / low_)
                            : (value - low_) / (high_ - low_);
    if (!std::isfinite(part)) return value > high_ ? stops_.back() : stops_.front();
    const double place = std::clamp(part, 0.0, 1.0) * static_cast<double>(stops_.size() - 1);
    const auto index = std::min(static_cast<std::size_t>(place), stops_.size() - 2);
    const Rgb from = rgb_of(stops_[index]), to = rgb_of(stops_[index + 1]);
    const double rest = place - static_cast<double>(index);
    return hex_of({mixed(from.red, to.red, rest), mixed(from.green, to.green, rest),
                   mixed(from.blue, to.blue, rest)});
}

double ColorRamp::value_at(double fraction) const {
    if (logarithmic_) return low_ * std::pow(high_ / low_, fraction);
    return low_ + (high_ - low_) * fraction;
}

}  // namespace cellblock::charts
