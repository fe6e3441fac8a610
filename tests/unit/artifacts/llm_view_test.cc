#include "artifacts/llm_view.h"

#include <doctest/doctest.h>

#include "artifacts/text.h"
#include "base/limits.h"
#include "tests/unit/artifacts/tables.h"

using namespace cellblock;
using namespace cellblock::artifacts;

namespace {

bool contains(const std::string& text, std::string_view part) {
    return text.find(part) != std::string::npos;
}

bool is_utf8(std::string_view text) {
    for (std::size_t at = 0; at < text.size();) {
        const CodePoint c = code_point_at(text, at);
        if (!c.valid) return false;
        at += c.size_bytes;
    }
    return true;
}

LlmText text_of(std::string text) {
    LlmText result;
    result.total_bytes = text.size();
    result.text = std::move(text);
    return result;
}

// An execution with everything, much of it too large.
struct Everything {
    Captured table;
    Captured picture;
    Captured plain;
    LlmInput input;

    Everything() {
        table.table = huge_table();
        table.result_fields = Json::parse(R"({"text":"   a b c","extra":{}})");
        PendingArtifact pending;
        pending.kind = ArtifactKind::image;
        pending.name = "image-2.png";
        pending.preview = Json::parse(R"({"width":640,"height":480,"alt":"a `plot`"})");
        picture.artifacts.push_back(pending);
        picture.result_fields = Json::parse(R"({"text":"<Figure size 640x480>","extra":{}})");
        picture.chart_description = "Chart \"Sales\": bar; x \"City\", y \"Income\".";
        plain.result_fields["text"] = std::string(50'000, 'p');
        add(table, true);
        add(picture, false);
        add(plain, false);
        Artifact stored;
        stored.id = "img1";
        stored.size_bytes = 23654;
        stored.info.name = "image-2.png";
        input.results[1].artifacts.push_back(stored);
        std::string log;
        for (int i = 0; i < 20'000; ++i) log += "line " + std::to_string(i) + "\n";
        input.standard_output = text_of(log);
        input.standard_output.total_bytes = 700'000'000;
        input.standard_output.url = "/artifacts/out1";
        input.standard_error = text_of(std::string(30'000, 'w'));
        LlmError error;
        error.name = "ValueError";
        error.value = "bad | value";
        for (int i = 0; i < 500; ++i) error.traceback += "  frame " + std::to_string(i) + "\n";
        error.traceback += "ValueError: bad | value\n";
        input.error = error;
    }

    void add(const Captured& captured, bool is_main_result) {
        LlmResult result;
        result.captured = &captured;
        result.is_main_result = is_main_result;
        input.results.push_back(result);
    }
};

}  // namespace

TEST_CASE("a plain result") {
    Captured captured;
    captured.result_fields = Json::parse(R"({"text":"42","extra":{}})");
    LlmInput input;
    LlmResult result;
    result.captured = &captured;
    result.is_main_result = true;
    input.results.push_back(result);
    input.standard_output = text_of("hello\n");
    CHECK(llm_view(input, 4096) == "## Result\n\n```\n42\n```\n\n## Output\n\n```\nhello\n```\n");
    CHECK(llm_view(LlmInput(), 4096) == "The cell ended without output.\n");
}

TEST_CASE("everything within any budget, and the parts of most worth in it") {
    const Everything everything;
    for (std::size_t budget = 0; budget < 60'000; budget = budget * 5 / 4 + 101) {
        INFO("budget ", budget);
        const std::string document = llm_view(everything.input, budget);
        CHECK(document.size() <= std::max(budget, limits::llm_view_min_bytes));
        CHECK(is_utf8(document));
        CHECK(contains(document, "ValueError"));
    }
    const std::string document = llm_view(everything.input, 8000);
    CHECK(document.starts_with("## Error\n\n**ValueError**: bad \\| value\n"));
    CHECK(contains(document, "earlier frames left out"));
    CHECK(contains(document, "  frame 499\n"));
    CHECK_FALSE(contains(document, "  frame 1\n"));
    CHECK(contains(document, "of 2,000,000 rows"));
    CHECK(contains(document, "- column 0: int64"));
    CHECK(contains(document,
                   "- image, 640×480 pixels, \"a \\`plot\\`\", image-2.png (23.1 KiB): "
                   "/artifacts/img1\n"));
    CHECK(contains(document, "Chart \"Sales\": bar"));
    CHECK_FALSE(contains(document, "<Figure"));
    CHECK(contains(document, "## Output (whole: /artifacts/out1)"));
    CHECK(contains(document, "line 0\n"));
    CHECK(contains(document, "of 700,000,000 bytes left out"));
    CHECK(contains(document, "stderr"));
}

TEST_CASE("text cannot close its fence") {
    Captured captured;
    captured.result_fields["text"] = "```\n# injected\n````\n";
    LlmInput input;
    LlmResult result;
    result.captured = &captured;
    input.results.push_back(result);
    const std::string document = llm_view(input, 4096);
    CHECK(document == "## Display\n\n`````\n```\n# injected\n````\n`````\n");
}

TEST_CASE("a thousand displays are cut with their number said") {
    Captured captured;
    captured.result_fields["text"] = std::string(500, 'x');
    LlmInput input;
    for (int i = 0; i < 1000; ++i) {
        LlmResult result;
        result.captured = &captured;
        input.results.push_back(result);
    }
    const std::string document = llm_view(input, 5000);
    CHECK(document.size() <= 5000);
    CHECK(contains(document, "more displays left out"));
}

TEST_CASE("progress bars and colours settle") {
    LlmInput input;
    input.standard_error = text_of("  0%|\r 50%|#\r100%|##\r\ndone \x1b[32mok\x1b[0m\n");
    CHECK(llm_view(input, 4096) ==
          "## Warnings and errors (stderr)\n\n```\n100%|##\ndone ok\n```\n");
    CHECK(settled_text("\x1b]0;title\x07text\x1b") == "text");
    CHECK(settled_text("a\r\nb\r") == "a\nb");
}

TEST_CASE("head and tail with what lies between counted") {
    const std::string text(1000, 'x');
    const std::string cut = head_and_tail(text, 300, 1000);
    CHECK(cut.size() <= 300);
    CHECK(contains(cut, " of 1,000 bytes left out"));
    CHECK(head_and_tail("short", 300, 5) == "short");
    CHECK(contains(head_and_tail("short", 300, 500), "495 of 500 bytes left out"));
}
