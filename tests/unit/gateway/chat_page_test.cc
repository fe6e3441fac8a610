#include "gateway/api/chat_page.h"

#include <doctest/doctest.h>

using namespace cellblock::gateway::api;

TEST_CASE("only plain names can be files of the chat page") {
    for (const char* name : {"index.html", "main.js", "vega-EXFNRLVR.js", "style.css"}) {
        CHECK(is_page_file(name));
        CHECK_FALSE(page_file_type(name).empty());
    }
    for (const char* name : {"", ".env", "..", "a/b.js", "a\\b.js", "a b.js", "caf\u00e9.js"}) {
        CHECK_FALSE(is_page_file(name));
    }
}

TEST_CASE("what a page does not have is not served, whatever its name") {
    CHECK(page_file_type("token").empty());
    CHECK(page_file_type("index.db").empty());
    CHECK(page_file_type("main.js.map").empty());
}
