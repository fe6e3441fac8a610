// The kept chart models (tests/data/charts), as the guest's reader made them.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "charts/model.h"
#include "tests/unit/repository_file.h"

namespace cellblock::charts {

inline std::string sample_text(const std::string& name) {
    std::ifstream file(repository_file("tests/data/charts/" + name + ".json"));
    REQUIRE_MESSAGE(file.good(), name);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline Figure sample(const std::string& name) {
    auto figure = parse_figure(std::string_view(sample_text(name)));
    REQUIRE_MESSAGE(figure.has_value(), name << ": " << figure.error().text());
    return std::move(*figure);
}

inline std::vector<std::string> sample_names() {
    std::vector<std::string> names;
    for (const auto& entry :
         std::filesystem::directory_iterator(repository_file("tests/data/charts"))) {
        if (entry.path().extension() == ".json") names.push_back(entry.path().stem().string());
    }
    return names;
}

}  // namespace cellblock::charts
