// Rows -> CSV (see csv.h).
#include "charts/csv.h"

#include "charts/rows.h"

namespace cellblock::charts {

namespace {

std::string quoted(const std::string& value) {
    std::string text = value;
    if (!reads_as_number(text) && !text.empty() &&
        std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos) {
        text.insert(text.begin(), '\'');
    }
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string result = "\"";
    for (const char letter : text) {
        if (letter == '"') result += '"';
        result += letter;
    }
    return result + "\"";
}

std::string line_of(const std::vector<std::string>& cells) {
    std::string line;
    for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : ",") + quoted(cells[i]);
    return line + "\r\n";
}

}  // namespace

std::string to_csv(const Figure& figure) {
    const DataRows rows(figure);
    std::string text = line_of(rows.columns());
    rows.for_each([&text](const std::vector<std::string>& cells) { text += line_of(cells); });
    return text;
}

}  // namespace cellblock::charts
