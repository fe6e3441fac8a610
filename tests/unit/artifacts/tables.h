// Tables for tests of their views.
#pragma once

#include <string>
#include <utility>

#include "artifacts/table.h"

namespace cellblock::artifacts {

inline Table table_of(const char* json) {
    auto table = parse_table(Json::parse(json));
    return table ? std::move(*table) : Table();
}

inline Table small_table() {
    return table_of(R"({"v":1,"rows_total":2,"columns":[
        {"name":"city","kind":"text","dtype":"object"},
        {"name":"total_bill","kind":"floating","dtype":"float64"}],
        "preview":[["Oslo",1.5],["Rome",null]]})");
}

// 2000 columns of 2,000,000 rows, of which the guest previews 10 + 5.
inline Table huge_table() {
    Json json = Json::parse(R"({"v":1,"rows_total":2000000,"columns_total":5000,"partial":true,
        "reason":"only the first 2000 columns are described","preview_head":10})");
    for (int i = 0; i < 1000; ++i) {
        Json column;
        column["name"] = "column " + std::to_string(i);
        column["kind"] = i % 2 == 0 ? "integer" : "text";
        column["dtype"] = "int64";
        column["nulls"] = i;
        column["stats"] = Json::parse(R"({"min":1,"max":9.25,"mean":4.123456789,"distinct":7,
            "top":[["a",3],["b",2]]})");
        json["columns"].push_back(column);
    }
    for (int row = 0; row < 15; ++row) {
        json["preview"].push_back(Json(1000, "row " + std::to_string(row)));
    }
    auto table = parse_table(json);
    return table ? std::move(*table) : Table();
}

}  // namespace cellblock::artifacts
