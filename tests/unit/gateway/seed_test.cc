#include "gateway/jupyter/seed.h"

#include <doctest/doctest.h>

using cellblock::gateway::jupyter::seed_cells;

namespace {

std::string notebook(const std::string& cells, const std::string& kernel = "python3") {
    return R"({"nbformat": 4, "metadata": {"kernelspec": {"name": ")" + kernel +
           R"("}}, "cells": [)" + cells + "]}";
}

}  // namespace

TEST_CASE("a seed notebook gives its code cells, whether their source is a text or lines") {
    const auto cells = seed_cells(notebook(R"(
        {"cell_type": "markdown", "source": "# words"},
        {"cell_type": "code", "source": "a = 1"},
        {"cell_type": "code", "source": ["b = 2\n", "c = 3"]})"));
    REQUIRE_MESSAGE(cells.has_value(), (cells ? "" : cells.error().text()));
    CHECK(*cells == std::vector<std::string>{"a = 1", "b = 2\nc = 3"});
}

TEST_CASE("a seed notebook of another kernel, of another format or of no sense is refused") {
    const auto other = seed_cells(notebook("", "ir"));
    REQUIRE(!other.has_value());
    CHECK(other.error().cause.find("NoSuchKernel") != std::string::npos);
    for (const char* text :
         {"", "[]", "{}", R"({"nbformat": 3, "cells": []})", R"({"nbformat": 4, "cells": {}})"}) {
        CAPTURE(text);
        CHECK(!seed_cells(text).has_value());
    }
    CHECK(!seed_cells(notebook(R"({"cell_type": "code"})")).has_value());
    CHECK(!seed_cells(notebook(R"({"cell_type": "code", "source": [1]})")).has_value());
}
