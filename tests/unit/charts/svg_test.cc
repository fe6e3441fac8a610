// The picture of our own: everything inside of it, text that does not overlap, nothing that runs.
// With CHART_SPECS_DIR set, every sample's picture is written there, to be looked at.
#include "charts/svg.h"

#include <cmath>
#include <cstdlib>
#include <regex>

#include "charts/text_size.h"
#include "tests/unit/charts/samples.h"

namespace cellblock::charts {

namespace {

struct Word {
    double left, right, top, bottom, turned;
    std::string text;
};

double attribute(const std::string& element, const std::string& name, double fallback) {
    std::smatch found;
    const std::regex pattern(" " + name + "=\"(-?[0-9.]+)\"");
    return std::regex_search(element, found, pattern) ? std::stod(found[1]) : fallback;
}

// All texts of the picture with the boxes that they take by our own measure.
std::vector<Word> words_of(const std::string& svg) {
    std::vector<Word> words;
    const std::regex pattern("<text([^>]*)>([^<]*)</text>");
    for (std::sregex_iterator at(svg.begin(), svg.end(), pattern), end; at != end; ++at) {
        const std::string element = (*at)[1];
        const double size = attribute(element, "font-size", 12);
        const double width = text_width_em((*at)[2].str()) * size;
        double x = attribute(element, "x", 0);
        const double y = attribute(element, "y", 0);
        std::smatch turned;
        const bool is_turned =
            std::regex_search(element, turned, std::regex("rotate\\((-?[0-9.]+)"));
        if (element.find("\"middle\"") != std::string::npos) x -= width / 2;
        if (element.find("\"end\"") != std::string::npos) x -= width;
        words.push_back({x, x + width, y - size * 0.8, y + size * 0.2,
                         is_turned ? std::stod(turned[1]) : 0, (*at)[2]});
    }
    return words;
}

std::size_t count_of(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

}  // namespace

TEST_CASE("every sample is a picture whose words stay inside and apart") {
    const char* directory = std::getenv("CHART_SPECS_DIR");
    for (const std::string& name : sample_names()) {
        CAPTURE(name);
        const std::string svg = to_svg(sample(name));
        if (directory != nullptr)
            std::ofstream(std::string(directory) + "/" + name + ".svg") << svg;
        REQUIRE(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
        CHECK(svg.ends_with("</svg>\n"));
        CHECK(svg.find("nan") == std::string::npos);
        CHECK(svg.find("inf\"") == std::string::npos);
        const double width = attribute(svg, "width", 0), height = attribute(svg, "height", 0);
        const std::vector<Word> words = words_of(svg);
        for (std::size_t i = 0; i < words.size(); ++i) {
            CAPTURE(words[i].text);
            if (words[i].turned != 0) continue;
            CHECK(words[i].left >= -1);
            CHECK(words[i].right <= width + 1);
            CHECK(words[i].top >= -1);
            CHECK(words[i].bottom <= height + 1);
            for (std::size_t j = i + 1; j < words.size(); ++j) {
                if (words[j].turned != 0) continue;
                CAPTURE(words[j].text);
                const bool apart =
                    words[i].right <= words[j].left || words[j].right <= words[i].left ||
                    words[i].bottom <= words[j].top || words[j].bottom <= words[i].top;
                CHECK(apart);
            }
        }
    }
}

TEST_CASE("bars are as high as their values say") {
    const std::string svg = to_svg(sample("bar"));
    std::vector<double> heights;
    const std::regex pattern("M-?[0-9.]+ -?[0-9.]+h-?[0-9.]+v(-?[0-9.]+)h");
    for (std::sregex_iterator at(svg.begin(), svg.end(), pattern), end; at != end; ++at) {
        heights.push_back(std::stod((*at)[1]));
    }
    REQUIRE(heights.size() == 4);  // 100, 200, 300, 400
    for (std::size_t i = 1; i < 4; ++i) {
        CHECK(heights[i] / heights[0] == doctest::Approx(static_cast<double>(i + 1)).epsilon(0.01));
    }
}

TEST_CASE("a picture names itself for those who cannot see it") {
    const std::string svg = to_svg(sample("bar"));
    CHECK(svg.find("role=\"img\"") != std::string::npos);
    CHECK(svg.find("<title>Bar chart &quot;Book Sales by Authors&quot;") != std::string::npos);
    CHECK(count_of(svg, "<desc>") == 1);
}

TEST_CASE("themes: light, dark, or what the reader's system asks for") {
    const Figure figure = sample("line");
    SvgOptions options;
    CHECK(count_of(to_svg(figure, options), "prefers-color-scheme:dark") == 1);
    options.theme = Theme::light;
    CHECK(count_of(to_svg(figure, options), "prefers-color-scheme") == 0);
    options.theme = Theme::dark;
    CHECK(to_svg(figure, options).find(".bg{fill:#0d1117}") != std::string::npos);
    options.width_px = 900;
    CHECK(to_svg(figure, options).find(" width=\"900\"") != std::string::npos);
    CHECK(theme_from("auto") == Theme::automatic);
    CHECK_FALSE(theme_from("pink").has_value());
}

TEST_CASE("many long names are turned and cut, never on top of each other") {
    Json names = Json::array(), places = Json::array(), values = Json::array();
    for (int i = 0; i < 40; ++i) {
        names.push_back("a rather long name of category " + std::to_string(i));
        places.push_back(i);
        values.push_back(i * i);
    }
    const Json axis{{"scale", "categorical"}, {"categories", names}};
    const Json layer{{"id", "l0"}, {"kind", "bar"}, {"data", {{"pos", places}, {"value", values}}}};
    const Json panel{{"id", "p0"}, {"x", axis}, {"layers", Json::array({layer})}};
    const auto figure = parse_figure(Json{{"v", 1}, {"panels", Json::array({panel})}});
    REQUIRE(figure.has_value());
    std::vector<Word> turned = words_of(to_svg(*figure));
    std::erase_if(turned, [](const Word& word) { return word.turned != -40; });
    CHECK(turned.size() >= 20);
    double last = -INFINITY;
    for (const Word& word : turned) {
        CHECK(word.right - last >= 13);  // they end at their ticks: one line height apart
        last = word.right;
    }
}

TEST_CASE("the guest's text is text") {
    const Json panel{{"id", "p0"},
                     {"title", "</text><script>alert(1)</script>"},
                     {"x", {{"label", "a & b \"c\""}}},
                     {"layers", Json::array({{{"id", "l0"},
                                              {"kind", "line"},
                                              {"label", "<img src=x onerror=y>"},
                                              {"data", {{"x", {1, 2}}, {"y", {3, 4}}}}}})}};
    const auto figure = parse_figure(Json{{"v", 1}, {"panels", Json::array({panel})}});
    REQUIRE(figure.has_value());
    const std::string svg = to_svg(*figure);
    CHECK(svg.find("<script") == std::string::npos);
    CHECK(svg.find("<img") == std::string::npos);
    CHECK(svg.find("&lt;script&gt;") != std::string::npos);
    CHECK(svg.find("a &amp; b &quot;c&quot;") != std::string::npos);
}

TEST_CASE("a long line is thinned to what the pixels show, with its peaks") {
    Json x = Json::array(), y = Json::array();
    for (int i = 0; i < 50'000; ++i) {
        x.push_back(i);
        y.push_back(i == 31'234 ? 100.0 : std::sin(i * 0.001));
    }
    const Json layer{{"id", "l0"}, {"kind", "line"}, {"data", {{"x", x}, {"y", y}}}};
    const Json panel{{"id", "p0"}, {"layers", Json::array({layer})}};
    const auto figure = parse_figure(Json{{"v", 1}, {"panels", Json::array({panel})}});
    REQUIRE(figure.has_value());
    const std::string svg = to_svg(*figure);
    CHECK(svg.size() < 60'000);
    // The peak is near the top of the plot, far above all other points.
    std::smatch clip;
    REQUIRE(std::regex_search(svg, clip, std::regex("<clipPath[^>]*><rect[^>]*>")));
    const double top = attribute(clip[0], "y", 0), height = attribute(clip[0], "height", 0);
    const std::string line = svg.substr(svg.find("<g clip-path"));
    const std::regex corner("L[0-9.]+ ([0-9.]+)");
    double highest = 1e9;
    for (std::sregex_iterator at(line.begin(), line.end(), corner), end; at != end; ++at) {
        highest = std::min(highest, std::stod((*at)[1]));
    }
    CHECK(highest >= top);
    CHECK(highest < top + height * 0.06);
}

}  // namespace cellblock::charts
