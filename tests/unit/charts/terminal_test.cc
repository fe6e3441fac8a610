// Plots of characters: values beside their bars, lines with axes, and no control character.
#include "charts/terminal.h"

#include <algorithm>
#include <sstream>

#include "base/unicode.h"
#include "tests/unit/charts/samples.h"

namespace cellblock::charts {

namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

std::size_t blocks_in(const std::string& line) {
    std::size_t count = 0;
    for (std::size_t at = line.find("█"); at != std::string::npos; at = line.find("█", at + 1))
        ++count;
    return count;
}

}  // namespace

TEST_CASE("every sample is text that fits into the terminal") {
    for (const std::string& name : sample_names()) {
        for (const std::size_t columns : {40, 80, 120}) {
            CAPTURE(name);
            TerminalOptions options;
            options.columns = columns;
            const std::string text = to_terminal(sample(name), options);
            if (name != "blank") CHECK(!text.empty());
            for (const std::string& line : lines_of(text)) {
                CAPTURE(line);
                CHECK(display_width(line) <= columns);
                CHECK(std::none_of(line.begin(), line.end(), [](char c) {
                    return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
                }));
            }
        }
    }
}

TEST_CASE("bars carry names and values, and are as long as these say") {
    const auto lines = lines_of(to_terminal(sample("bar")));
    REQUIRE(lines.size() == 5);
    CHECK(lines[0] == "Book Sales by Authors");
    CHECK(lines[1].starts_with("Author A █"));
    CHECK(lines[1].ends_with(" 100"));
    CHECK(lines[4].ends_with(" 400"));
    CHECK(static_cast<double>(blocks_in(lines[4])) / static_cast<double>(blocks_in(lines[1])) ==
          doctest::Approx(4).epsilon(0.08));
}

TEST_CASE("groups of bars stand together, with their series") {
    const auto lines = lines_of(to_terminal(sample("bar_grouped")));
    REQUIRE(lines.size() == 6);
    CHECK(lines[0].find("Oslo · 2024") != std::string::npos);
    CHECK(lines[1].find("Oslo · 2025") != std::string::npos);
    CHECK(lines[2].find("Rome · 2024") != std::string::npos);
}

TEST_CASE("slices are shares, bins are ranges, boxes show five numbers") {
    const std::string pie = to_terminal(sample("pie"));
    CHECK(pie.find("90%") != std::string::npos);
    CHECK(to_terminal(sample("hist")).find(" – ") != std::string::npos);
    const std::string box = to_terminal(sample("box"));
    CHECK(box.find("├") != std::string::npos);
    CHECK(box.find("median") != std::string::npos);
}

TEST_CASE("a line has axes with ticks, and colours only where they are wanted") {
    const std::string plain = to_terminal(sample("dates"));
    CHECK(plain.find("┤") != std::string::npos);
    CHECK(plain.find("└──") != std::string::npos);
    CHECK(plain.find('\x1b') == std::string::npos);
    TerminalOptions options;
    options.ink = TerminalOptions::Ink::colored;
    CHECK(to_terminal(sample("dates"), options).find("\x1b[38;2;31;119;180m") != std::string::npos);
}

TEST_CASE("escape sequences of the guest do not get through") {
    const Json panel{{"id", "p0"},
                     {"title", "a\x1b[31mb\u009bc\u202ed"},
                     {"layers", Json::array({{{"id", "l0"},
                                              {"kind", "bar"},
                                              {"label", "x\u009b1m"},
                                              {"data", {{"pos", {1}}, {"value", {3}}}}}})}};
    const auto figure = parse_figure(Json{{"v", 1}, {"panels", Json::array({panel})}});
    REQUIRE(figure.has_value());
    const std::string text = to_terminal(*figure);
    CHECK(text.find('\x1b') == std::string::npos);
    CHECK(text.find("\xc2\x9b") == std::string::npos);
    CHECK(text.find("\xe2\x80\xae") == std::string::npos);
}

}  // namespace cellblock::charts
