#include "gateway/cli/cell_printer.h"

#include <doctest/doctest.h>

#include "base/files.h"
#include "base/ids.h"
#include "gateway/cli/progress_bar.h"

using namespace cellblock;
using namespace cellblock::gateway::cli;

namespace {

struct Printed {
    std::string out;
    std::string err;
    bool failed = false;
    bool ended = false;
};

Printed print(const std::string& lines, const std::filesystem::path& folder,
              PrinterOptions options = {}) {
    char* out_text = nullptr;
    char* err_text = nullptr;
    std::size_t out_size = 0;
    std::size_t err_size = 0;
    std::FILE* out = ::open_memstream(&out_text, &out_size);
    std::FILE* err = ::open_memstream(&err_text, &err_size);
    options.folder = folder;
    options.base_url = "http://h";
    CellPrinter printer(options, out, err);
    // Cut into bytes: the network cuts anywhere.
    for (const char c : lines) printer.feed(std::string_view(&c, 1));
    std::fclose(out);
    std::fclose(err);
    Printed printed;
    printed.out.assign(out_text, out_size);
    printed.err.assign(err_text, err_size);
    printed.failed = printer.failed();
    printed.ended = printer.ended();
    std::free(out_text);
    std::free(err_text);
    return printed;
}

}  // namespace

TEST_CASE("prints output as it comes, results on lines of their own") {
    const Printed printed = print(
        "{\"type\":\"number_of_executions\",\"execution_count\":1}\n"
        "{\"type\":\"stdout\",\"text\":\"a\",\"timestamp\":\"x\"}\n"
        "{\"type\":\"stderr\",\"text\":\"warn\\n\",\"timestamp\":\"x\"}\n"
        "{\"type\":\"keepalive\"}\n{\"type\":\"something new\"}\nnot json\n"
        "{\"type\":\"result\",\"text\":\"42\",\"html\":\"<b>42</b>\",\"is_main_result\":true}\n"
        "{\"type\":\"end_of_execution\"}\n",
        "/nonexistent");
    CHECK(printed.out == "a\n42\n");
    CHECK(printed.err == "warn\n");
    CHECK(printed.ended);
    CHECK_FALSE(printed.failed);
}

TEST_CASE("saves a picture once and shows its path") {
    const auto folder = std::filesystem::temp_directory_path() / ("cellblock-" + new_short_id());
    const Printed printed = print(
        "{\"type\":\"result\",\"png\":\"iVBORw==\",\"svg\":\"<svg/>\",\"text\":\"<Figure>\"}\n"
        "{\"type\":\"artifact\",\"kind\":\"image\",\"url\":\"/artifacts/1\"}\n"
        "{\"type\":\"artifact\",\"kind\":\"table\",\"name\":\"t\",\"url\":\"/artifacts/2\"}\n",
        folder);
    CHECK(printed.out == "[png] " + (folder / "output-1.png").string() + "\n");
    CHECK(printed.err == "[table] t http://h/artifacts/2\n");
    CHECK(read_file(folder / "output-1.png", 100).value() == "\x89PNG");
    std::filesystem::remove_all(folder);
}

TEST_CASE("a table is shown aligned instead of the library's own text") {
    const std::string result =
        "{\"type\":\"result\",\"text\":\"pandas text\",\"html\":\"<table>\"}\n";
    const Printed table = print(
        result +
            "{\"type\":\"artifact\",\"kind\":\"table\",\"name\":\"t\",\"url\":\"/artifacts/2\","
            "\"preview\":{\"rows\":2,\"columns\":2,\"schema\":[{\"name\":\"city\",\"kind\":"
            "\"text\"},"
            "{\"name\":\"n\",\"kind\":\"integer\"}],\"preview\":[[\"Oslo\",7],[\"Rome\",12]]}}\n",
        "/nonexistent");
    CHECK(table.out == "city   n\nOslo   7\nRome  12\n2 rows × 2 columns\n");
    // No table follows, or one that cannot be read: the text is not lost, and stays in its place.
    CHECK(print(result + "{\"type\":\"stdout\",\"text\":\"x\"}\n", "/nonexistent").out ==
          "pandas text\nx");
    CHECK(print(result + "{\"type\":\"artifact\",\"kind\":\"table\",\"preview\":3}\n", "/x").out ==
          "pandas text\n");
}

TEST_CASE("a chart is fetched as a plot of the terminal's width") {
    std::string asked;
    PrinterOptions options;
    options.columns = 60;
    options.fetch = [&asked](const std::string& path) {
        asked = path;
        return std::optional<std::string>("a █\n");
    };
    const std::string lines =
        "{\"type\":\"artifact\",\"kind\":\"chart\",\"url\":\"/artifacts/1\"}\n";
    CHECK(print(lines, "/nonexistent", options).out == "a █\n");
    CHECK(asked == "/artifacts/1/chart?format=text&columns=60");
    options.fetch = [](const std::string&) { return std::optional<std::string>(); };
    CHECK(print(lines, "/nonexistent", options).out.empty());
}

TEST_CASE("an error goes to standard error and is remembered") {
    const Printed printed = print(
        "{\"type\":\"error\",\"name\":\"ZeroDivisionError\",\"value\":\"division by zero\","
        "\"traceback\":\"Traceback...\\nZeroDivisionError: division by zero\"}\n",
        "/nonexistent");
    CHECK(printed.failed);
    CHECK_FALSE(printed.ended);
    CHECK(printed.err == "Traceback...\nZeroDivisionError: division by zero\n");
    const Printed bare =
        print("{\"type\":\"error\",\"name\":\"SandboxGone\",\"value\":\"it ended\"}\n", "/x");
    CHECK(bare.err == "SandboxGone: it ended\n");
}

TEST_CASE("draws progress within the width it has") {
    const Progress half{"installing packages", 0.5, "pandas 2.3.3"};
    const std::string line = progress_line(half, std::chrono::seconds(125), 200);
    CHECK(line == "[============>           ]  50%  2m05s  installing packages: pandas 2.3.3");
    CHECK(progress_line(half, std::chrono::seconds(1), 30).size() == 30);
    const Progress accents{"\xc3\xbc\xc3\xbc\xc3\xbc", -1, ""};
    for (std::size_t width = 36; width < 48; ++width) {
        const std::string cut = progress_line(accents, std::chrono::seconds(1), width);
        CHECK((cut.empty() || static_cast<unsigned char>(cut.back()) < 0xc0));
    }
    CHECK(elapsed_text(std::chrono::seconds(7)) == "7s");
    CHECK(elapsed_text(std::chrono::seconds(3720)) == "1h02m");
}
