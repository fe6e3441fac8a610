#include <doctest/doctest.h>

#include "artifacts/arrow/calendar.h"
#include "artifacts/arrow/cell.h"
#include "artifacts/arrow/file.h"
#include "artifacts/arrow/int128.h"
#include "table_samples.h"

using namespace cellblock;
using namespace cellblock::artifacts::arrow;

namespace {

// The cells of a column as JSON, with "|" between them.
std::string column(ArrowFile& file, const std::string& name) {
    for (std::size_t i = 0; i < file.schema().fields.size(); ++i) {
        if (file.schema().fields[i].name != name) continue;
        std::size_t budget = read_max_bytes;
        const auto slice = file.read(i, 0, file.rows_together(0), budget);
        REQUIRE_MESSAGE(slice.has_value(), name << ": " << slice.error().text());
        CellWriter writer;
        std::string cells;
        for (std::uint64_t row = 0; row < slice->length; ++row) {
            if (row > 0) cells += "|";
            writer.append_json(cells, *slice, row);
        }
        return cells;
    }
    return "(absent)";
}

}  // namespace

TEST_CASE("every kind of column reads back as JSON, nulls and extremes included") {
    ArrowFile file = table_samples::open("kinds");
    CHECK(file.rows() == 3);
    CHECK(column(file, "flag") == "true|false|null");
    CHECK(column(file, "small") == "-128|127|null");
    CHECK(column(file, "big") == "9007199254740992|\"9007199254740993\"|null");
    CHECK(column(file, "huge") == "0|\"18446744073709551615\"|null");
    CHECK(column(file, "half") == "0.5|-65504.0|null");
    CHECK(column(file, "single") == "0.25|\"inf\"|null");
    CHECK(column(file, "double") == "1e+300|null|null");
    CHECK(column(file, "money") == "\"1.10\"|\"-0.05\"|null");
    CHECK(column(file, "day") == "\"0001-01-01\"|\"2024-02-29\"|null");
    CHECK(column(file, "clock") == "\"00:00:00\"|\"23:59:59.000005\"|null");
    CHECK(column(file, "naive") == "\"2024-07-01T10:30:00.000250\"|\"1969-12-31T23:59:59\"|null");
    CHECK(column(file, "oslo") ==
          "\"2024-07-01T12:30:00.000250+02:00\"|\"2024-01-01T01:00:00+01:00\"|null");
    CHECK(column(file, "fixed") ==
          "\"1970-01-01T05:30:00.000000001+05:30\"|\"1970-01-01T05:29:59.999999999+05:30\"|null");
    CHECK(column(file, "wait") == "\"P1DT2H\"|\"-PT0.000001S\"|null");
    CHECK(column(file, "span") == "\"P1Y2M3D\"|\"P-T5S\"|null");
    CHECK(column(file, "text") == "\"😀 \\\"q\\\"\\n\"|\"\"|null");
    CHECK(column(file, "bytes") == "\"0x00ff\"|\"0x\"|null");
    CHECK(column(file, "fours") == "\"0x61626364\"|\"0x65666768\"|null");
    CHECK(column(file, "city") == "\"Oslo\"|\"Rome\"|null");
    CHECK(column(file, "list") == "[1, null]|[]|null");
    CHECK(column(file, "nested") == "[[\"a\"], []]|[[null]]|null");
    CHECK(column(file, "pairs") == "[1.5, 2.5]|[3.5, null]|null");
    CHECK(column(file, "record") == "{\"x\": 1, \"y\": \"a\"}|{\"x\": null, \"y\": \"b\"}|null");
    CHECK(column(file, "lookup") == "[[\"k\", 1]]|[]|null");
    CHECK(column(file, "nothing") == "null|null|null");
}

TEST_CASE("a slice in the middle of a batch has the same cells as the whole") {
    ArrowFile file = table_samples::open("kinds");
    for (std::size_t i = 0; i < file.schema().fields.size(); ++i) {
        CellWriter writer;
        std::size_t budget = read_max_bytes;
        const auto whole = file.read(i, 0, 3, budget);
        REQUIRE(whole.has_value());
        for (std::uint64_t row = 0; row < 3; ++row) {
            const auto one = file.read(i, row, 1, budget);
            REQUIRE(one.has_value());
            std::string expected;
            std::string got;
            writer.append_json(expected, *whole, row);
            writer.append_json(got, *one, 0);
            CHECK(got == expected);
        }
    }
}

TEST_CASE("reading a few rows reads a few bytes") {
    const auto content = table_samples::load("sales");
    ArrowFile file = table_samples::open(content);
    CHECK(file.rows() == 1000);
    CHECK(file.batches() == 16);
    content->read_bytes = 0;
    std::size_t budget = read_max_bytes;
    REQUIRE(file.read(0, 500, 2, budget).has_value());
    CHECK(content->read_bytes < 2000);  // a batch's metadata and 16 bytes
    CHECK(file.rows_together(500) == 12);
    CHECK(file.rows_together(1000) == 0);
}

TEST_CASE("more than the budget is refused before it is read") {
    ArrowFile file = table_samples::open("sales");
    std::size_t budget = 100;
    const auto refused = file.read(0, 0, 64, budget);
    REQUIRE(!refused.has_value());
    CHECK(refused.error().code == ErrorCode::too_large);
}

TEST_CASE("a file that is cut or has a byte changed is refused or read, and nothing else") {
    const auto whole = table_samples::load("kinds");
    const auto read_all = [](const std::shared_ptr<table_samples::Counted>& file) {
        auto opened = ArrowFile::open(table_samples::reader_of(file), file->content.size());
        if (!opened) return;
        CellWriter writer;
        std::string out;
        for (std::size_t i = 0; i < opened->schema().fields.size(); ++i) {
            std::size_t budget = 1 << 20;
            const auto count = std::min<std::uint64_t>(opened->rows_together(0), 8);
            if (count == 0) continue;
            const auto slice = opened->read(i, 0, count, budget);
            if (slice) writer.append_json(out, *slice, 0);
        }
    };
    for (std::size_t size = 0; size < whole->content.size(); size += 7) {
        auto cut = std::make_shared<table_samples::Counted>();
        cut->content = whole->content.substr(0, size);
        read_all(cut);
        CHECK(!ArrowFile::open(table_samples::reader_of(cut), size).has_value());
    }
    for (std::size_t at = 0; at < whole->content.size(); ++at) {
        auto changed = std::make_shared<table_samples::Counted>(*whole);
        changed->content[at] = static_cast<char>(changed->content[at] ^ 0xFF);
        read_all(changed);
    }
}

TEST_CASE("zones: names of the host's zoneinfo, fixed offsets, and nothing outside of it") {
    const Zone oslo = Zone::find("Europe/Oslo");
    CHECK(oslo.offset_at(1720000000) == 7200);
    CHECK(oslo.offset_at(1704067200) == 3600);
    CHECK(oslo.offset_at(4102444800) == 3600);  // 2100: by the rule
    CHECK(oslo.offset_at(4118083200) == 7200);  // July of it
    CHECK(oslo.to_utc(1704067200 + 3600) == 1704067200);
    CHECK(Zone::find("Australia/Sydney").offset_at(4102444800) == 39600);  // summer in January
    CHECK(Zone::find("America/St_Johns").offset_at(1704067200) == -12600);
    CHECK(Zone::find("+05:30").offset_at(0) == 19800);
    CHECK(Zone::find("-08:00").offset_at(0) == -28800);
    for (const char* name : {"UTC", "", "../../etc/passwd", "/etc/localtime", "No/Where", "."}) {
        CHECK(Zone::find(name).offset_at(1720000000) == 0);
    }
    CHECK(Zone::of_file(as_bytes("TZif2 but no more")).offset_at(0) == 0);
}

TEST_CASE("moments as text, and back") {
    CHECK(date_text(-719162) == "0001-01-01");
    CHECK(date_text(2932897) == "+10000-01-01");
    CHECK(wall_clock_text(moment_of(-1, TimeUnit::millisecond)) == "1969-12-31T23:59:59.999000");
    CHECK(wall_clock_text(moment_of(INT64_MIN, TimeUnit::nanosecond)) ==
          "1677-09-21T00:12:43.145224192");
    CHECK(duration_text(INT64_MIN, TimeUnit::nanosecond) == "-P106751DT23H47M16.854775808S");
    CHECK(duration_text(0, TimeUnit::second) == "PT0S");
    const auto parsed = parse_moment("2024-02-29 08:30:00.5+05:30");
    REQUIRE(parsed.has_value());
    CHECK(parsed->moment.seconds == 1709195400);
    CHECK(parsed->moment.nanoseconds == 500'000'000);
    CHECK(parsed->offset_s == 19800);
    CHECK(parse_moment("2024-02-29")->moment.seconds == 1709164800);
    for (const char* text : {"2023-02-29", "2024-13-01", "24-01-01", "2024-01-01T25:00", "today",
                             "2024-01-01T00:00:00+1", "2024-01-01T00:00:", ""}) {
        CHECK_MESSAGE(!parse_moment(text).has_value(), text);
    }
}

TEST_CASE("decimals have their zeros, and negative scales no exponent") {
    CHECK(decimal_text(0, 0) == "0");
    CHECK(decimal_text(0, 2) == "0.00");
    CHECK(decimal_text(-5, 2) == "-0.05");
    CHECK(decimal_text(123, -2) == "12300");
    CHECK(decimal_text(static_cast<Int128>(UInt128{1} << 127), 0) ==
          "-170141183460469231731687303715884105728");
}
