#include <doctest/doctest.h>

#include "gateway/jupyter/notebook_api.h"
#include "gateway/jupyter/notebook_request.h"
#include "gateway/jupyter/response_info.h"

using namespace cellblock;
using namespace cellblock::gateway::jupyter;

TEST_CASE("cells with an annotation answer requests, the others set kernels up") {
    const auto api =
        notebook_api({"import json", "# GET /hello/:name\nprint(1)", "# POST /hello/:name",
                      "  # a comment\nx = 1", "# GET /hello/:name\nprint(2)", "# GETTING on",
                      "# ResponseInfo GET /hello/:name\nprint('{}')"},
                     "n");
    REQUIRE_MESSAGE(api.has_value(), (api ? "" : api.error().text()));
    CHECK(api->setup ==
          std::vector<std::string>{"import json", "  # a comment\nx = 1", "# GETTING on"});
    REQUIRE(api->endpoints.size() == 1);
    const NotebookEndpoint& hello = api->endpoints.front();
    CHECK(hello.pattern == "/hello/{name}");
    REQUIRE(hello.operations.size() == 2);
    CHECK(hello.operations.at("GET").code ==
          "# GET /hello/:name\nprint(1)\n# GET /hello/:name\nprint(2)\n");
    CHECK(hello.operations.at("GET").response_info ==
          "# ResponseInfo GET /hello/:name\nprint('{}')\n");
    CHECK(hello.operations.at("POST").response_info.empty());
    CHECK(dump_ascii(swagger_of(*api)) ==
          R"({"swagger":"2.0","paths":{"/hello/:name":{"get":{"responses":{"200":)"
          R"({"description":"Success"}}},"post":{"responses":{"200":{"description":"Success"}}}}},)"
          R"("info":{"version":"0.0.0","title":"n"}})");
}

TEST_CASE("a notebook whose paths cannot be served is refused") {
    for (const std::vector<std::string>& cells :
         std::vector<std::vector<std::string>>{{},
                                               {"x = 1"},
                                               {"# GET hello"},
                                               {"# GET /a/:"},
                                               {"# GET /a/b:c"},
                                               {"# GET /a/:1"},
                                               {"# GET /a/{b}"},
                                               {"# GET /a b"},
                                               {"# GET /_api/mine"},
                                               {"# GET /a/:x", "# POST /a/:y"},
                                               {"# GET /a", "# ResponseInfo GET /b"},
                                               {"# GET /a", "# ResponseInfo POST /a"}}) {
        CAPTURE(cells.empty() ? "" : cells.back());
        CHECK(!notebook_api(cells, "n").has_value());
    }
}

TEST_CASE("a body becomes what its type says, or stays text") {
    const auto body = [](const char* type, std::string_view text) {
        const auto value = notebook_body(type, text);
        return value ? dump_ascii(*value) : value.error().cause;
    };
    CHECK(body("application/json; charset=utf-8", R"({"a": [1]})") == R"({"a":[1]})");
    CHECK(body("application/json", "{") == R"("{")");
    CHECK(body("text/plain", "h\xc3\xa9") == R"("h\u00e9")");
    CHECK(body("application/x-www-form-urlencoded", "a=1&b=%20x&a=2") ==
          R"({"a":["1","2"],"b":[" x"]})");
    CHECK(body("text/plain", "\xff") == "the body is not valid UTF-8 text");
    CHECK(body("multipart/form-data; boundary=\"B\"",
               "--B\r\ncontent-disposition: form-data; name=\"a\"\r\n\r\n1\r\n--B\r\n"
               "Content-Disposition: form-data; name=\"f\"; filename=\"x\"\r\n\r\n\xff\r\n--B\r\n"
               "Content-Disposition: form-data; name=a\r\n\r\n\r\n\r\n--B--\r\n") ==
          R"({"a":["1","\r\n"]})");
    for (const char* broken :
         {"", "--B", "--B\r\n", "--B\r\n\r\n1", "--B\r\nx\r\n--B--", "--C--"}) {
        CAPTURE(broken);
        CHECK(!notebook_body("multipart/form-data; boundary=B", broken).has_value());
    }
    CHECK(!notebook_body("multipart/form-data", "--\r\n").has_value());
}

TEST_CASE("nothing in a request leaves the text that the cell gets") {
    const Json request = {{"body", "\"\n\\\"; import os # '''\xf0\x9f\x98\x80"}};
    const std::string statement = request_statement(request);
    CHECK(statement ==
          R"(REQUEST = "{\"body\":\"\\\"\\n\\\\\\\"; import os # '''\\ud83d\\ude00\"}")");
}

TEST_CASE("ResponseInfo says status and headers, and cannot reshape the answer") {
    const auto info = response_info_from(
        R"({"status": 201, "headers": {"Content-Type": "text/html", "X-N": 3}})");
    REQUIRE_MESSAGE(info.has_value(), (info ? "" : info.error().text()));
    CHECK(info->status == 201);
    CHECK(info->content_type == "text/html");
    CHECK(info->headers == std::vector<std::pair<std::string, std::string>>{{"X-N", "3"}});
    CHECK(response_info_from("{}")->status == 200);
    for (const char* text : {"", "[]", "3", R"({"status": 101})", R"({"status": 600})",
                             R"({"status": "200"})", R"({"headers": []})",
                             R"({"headers": {"A B": "x"}})", R"({"headers": {"A": "x\r\nB: y"}})",
                             R"({"headers": {"A": []}})", R"({"headers": {"content-length": "3"}})",
                             R"({"headers": {"Transfer-Encoding": "chunked"}})"}) {
        CAPTURE(text);
        CHECK(!response_info_from(text).has_value());
    }
}
