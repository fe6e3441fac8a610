#include "gateway/http/head_check.h"

#include <doctest/doctest.h>

using namespace cellblock::gateway::http;

namespace {

int verdict(const std::string& head) {
    const auto checked = check_head(head);
    return checked ? 0 : checked.error().status;
}

std::string post(const std::string& fields) {
    return "POST /execute HTTP/1.1\r\nHost: localhost\r\n" + fields + "\r\n";
}

}  // namespace

TEST_CASE("accepts the heads that honest clients send") {
    CHECK(verdict("GET / HTTP/1.1\r\nHost: localhost:8888\r\n\r\n") == 0);
    CHECK(verdict("GET /a?b=c HTTP/1.0\r\n\r\n") == 0);
    CHECK(verdict("GET http://localhost:8888/a HTTP/1.1\r\nHost: localhost:8888\r\n\r\n") == 0);
    CHECK(verdict("OPTIONS * HTTP/1.1\r\nHost: [::1]:80\r\n\r\n") == 0);
    CHECK(verdict(post("Content-Length: 12\r\nExpect: 100-continue\r\n")) == 0);
    CHECK(verdict(post("Transfer-Encoding: Chunked\r\n")) == 0);
    CHECK(verdict(post("Cookie: a=b\r\nCookie: c=d\r\n")) == 0);
    CHECK(verdict("GET /\xc3\xbc HTTP/1.1\r\nHost: localhost\r\n\r\n") == 0);
}

TEST_CASE("refuses what two readers could frame differently") {
    CHECK(verdict(post("Content-Length: 5\r\nContent-Length: 6\r\n")) == 400);
    CHECK(verdict(post("Content-Length: 5\r\nContent-Length: 5\r\n")) == 400);
    CHECK(verdict(post("Content-Length: 5, 5\r\n")) == 400);
    CHECK(verdict(post("Content-Length: +5\r\n")) == 400);
    CHECK(verdict(post("Content-Length: 0x5\r\n")) == 400);
    CHECK(verdict(post("Content-Length: -1\r\n")) == 400);
    CHECK(verdict(post("Content-Length: \r\n")) == 400);
    CHECK(verdict(post("Content-Length: 99999999999999999999\r\n")) == 400);
    CHECK(verdict(post("Content-Length: 5\r\nTransfer-Encoding: chunked\r\n")) == 400);
    CHECK(verdict(post("Transfer-Encoding: chunked\r\nContent-Length: 5\r\n")) == 400);
    CHECK(verdict(post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")) == 400);
    CHECK(verdict(post("Transfer-Encoding: gzip, chunked\r\n")) == 501);
    CHECK(verdict(post("Transfer-Encoding: chunked, identity\r\n")) == 501);
    CHECK(verdict(post("Transfer-Encoding: xchunked\r\n")) == 501);
    CHECK(verdict("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n") == 400);
    CHECK(verdict(post("Content-Length : 5\r\n")) == 400);
    CHECK(verdict(post(" Content-Length: 5\r\n")) == 400);
    CHECK(verdict(post("X: a\r\n b\r\n")) == 400);
    CHECK(verdict(post("X: a\rb\r\n")) == 400);
    CHECK(verdict(post(std::string("X: a\0b\r\n", 8))) == 400);
    CHECK(verdict(post("NoColon\r\n")) == 400);
    CHECK(verdict(post(": empty name\r\n")) == 400);
}

TEST_CASE("refuses a missing, doubled or malformed Host") {
    CHECK(verdict("GET / HTTP/1.1\r\n\r\n") == 400);
    CHECK(verdict("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n") == 400);
    CHECK(verdict("GET / HTTP/1.1\r\nHost: a\r\nhOST: a\r\n\r\n") == 400);
    CHECK(verdict("GET / HTTP/1.1\r\nHost: a b\r\n\r\n") == 400);
    CHECK(verdict("GET / HTTP/1.1\r\nHost: user@a\r\n\r\n") == 400);
    CHECK(verdict("GET / HTTP/1.1\r\nHost: a/b\r\n\r\n") == 400);
    CHECK(verdict("GET / HTTP/1.1\r\nHost: \r\n\r\n") == 400);
    CHECK(verdict("GET / HTTP/1.1\r\nHost: [::1\r\n\r\n") == 400);
    CHECK(verdict("GET / HTTP/1.1\r\nHost: a:123456\r\n\r\n") == 400);
    CHECK(verdict("GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n") == 400);
}

TEST_CASE("refuses malformed request lines") {
    CHECK(verdict("GET /\r\nHost: a\r\n\r\n") == 400);
    CHECK(verdict("GET  HTTP/1.1\r\nHost: a\r\n\r\n") == 400);
    CHECK(verdict("GET /a b HTTP/1.1\r\nHost: a\r\n\r\n") == 400);
    CHECK(verdict("GET / HTTP/2.0\r\nHost: a\r\n\r\n") == 505);
    CHECK(verdict("GET / HTTP/1.11\r\nHost: a\r\n\r\n") == 505);
    CHECK(verdict("GET / FTP/1.1\r\nHost: a\r\n\r\n") == 400);
    CHECK(verdict("G(T / HTTP/1.1\r\nHost: a\r\n\r\n") == 400);
    CHECK(verdict("GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n") == 400);
    CHECK(verdict("GET a HTTP/1.1\r\nHost: a\r\n\r\n") == 400);
    CHECK(verdict("GET * HTTP/1.1\r\nHost: a\r\n\r\n") == 400);
    CHECK(verdict("CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n") == 501);
    CHECK(verdict("GET /" + std::string(9000, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n") == 414);
    CHECK(verdict(post("Expect: a pony\r\n")) == 417);
    std::string many;
    for (int i = 0; i < 120; ++i) many += "X-A: b\r\n";
    CHECK(verdict(post(many)) == 431);
}

TEST_CASE("finds the end of a head, and reports bare line feeds at once") {
    CHECK(find_head_end("GET / HTTP/1.1\r\n").scan == HeadScan::need_more);
    CHECK(find_head_end("").scan == HeadScan::need_more);
    CHECK(find_head_end("GET / HTTP/1.1\n").scan == HeadScan::bare_newline);
    CHECK(find_head_end("GET / HTTP/1.1\r\nA: b\n\r\n").scan == HeadScan::bare_newline);
    const HeadEnd end = find_head_end("GET / HTTP/1.1\r\nA: b\r\n\r\nbody");
    CHECK(end.scan == HeadScan::complete);
    CHECK(end.size == 24);
}
