// The server's ordinary behaviour, over real sockets.
#include <doctest/doctest.h>

#include "live_server.h"

using namespace cellblock;
using namespace cellblock::gateway::http;
using namespace cellblock::gateway::http::testing;

TEST_CASE("answers, keeps the connection, and answers again") {
    LiveServer server;
    RawClient client(server.port());
    for (int i = 0; i < 3; ++i) {
        client.send(get("/hello"));
        const std::string answer = client.read_until("hello");
        CHECK(has(answer, "HTTP/1.1 200 OK\r\n"));
        CHECK(has(answer, "Content-Length: 5\r\n"));
    }
    // Counted once the answer is out, which the client may see first.
    CHECK(eventually([&] {
        return has(server.metrics(),
                   "cellblock_http_requests_total{route=\"/hello\",status=\"200\"} 3");
    }));
}

TEST_CASE("pipelined requests are answered in order, with and without bodies") {
    LiveServer server;
    RawClient client(server.port());
    std::string all;
    for (int i = 0; i < 20; ++i) {
        all += get("/hello");
        all += post("/echo", "body" + std::to_string(i));
        all +=
            "POST /echo HTTP/1.1\r\nHost: a.localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
            "3;ext=1\r\nabc\r\n2\r\nde\r\n0\r\n\r\n";
    }
    all += get("/hello", "Connection: close\r\n");
    client.send(all);
    const std::string answers = client.read_all();
    std::size_t at = 0;
    for (int i = 0; i < 20; ++i) {
        const std::string number = std::to_string(i);
        const std::string body = std::to_string(4 + number.size()) + ":body" + number;
        for (const std::string& expected :
             {std::string("\r\n\r\nhello"), "\r\n\r\n" + body, std::string("\r\n\r\n5:abcde")}) {
            at = answers.find(expected, at);
            REQUIRE(at != std::string::npos);
        }
    }
    CHECK(answers.substr(answers.size() - 5) == "hello");
}

TEST_CASE("streams in chunks while the handler runs") {
    LiveServer server;
    RawClient client(server.port());
    client.send(get("/lines"));
    const auto begin = std::chrono::steady_clock::now();
    const std::string head = client.read_until("\r\n\r\n");
    CHECK(has(head, "Transfer-Encoding: chunked"));
    CHECK_FALSE(has(head, "\nContent-Type"));
    client.read_until("line 0\n");
    CHECK(std::chrono::steady_clock::now() - begin < milliseconds(600));
    const std::string rest = client.read_until("0\r\n\r\n");
    CHECK(has(rest, "7\r\nline 9\n\r\n"));
}

TEST_CASE("HTTP/1.0 gets plain streams and closed connections") {
    LiveServer server;
    RawClient client(server.port());
    client.send("GET /lines HTTP/1.0\r\n\r\n");
    const std::string answer = client.read_all();
    CHECK_FALSE(has(answer, "chunked"));
    CHECK(answer.substr(answer.size() - 7) == "line 9\n");

    RawClient kept(server.port());
    kept.send("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    CHECK(has(kept.read_until("hello"), "Connection: keep-alive"));
    kept.send("GET /hello HTTP/1.0\r\n\r\n");
    CHECK(has(kept.read_all(), "Connection: close"));
}

TEST_CASE("HEAD, wrong methods, unknown paths and OPTIONS") {
    LiveServer server;
    const std::string head = ask(server, "HEAD /hello HTTP/1.1\r\nHost: localhost\r\n\r\n");
    CHECK(has(head, "Content-Length: 5\r\n"));
    CHECK(head.substr(head.size() - 4) == "\r\n\r\n");
    const std::string wrong = ask(server, post("/hello", "x"));
    CHECK(has(wrong, "HTTP/1.1 405 Method Not Allowed"));
    CHECK(has(wrong, "Allow: GET, HEAD, OPTIONS\r\n"));
    CHECK(has(ask(server, get("/nowhere")), "HTTP/1.1 404 Not Found"));
    CHECK(has(ask(server, get("/refuse/%2e%2e")), "HTTP/1.1 400 Bad Request"));
    const std::string options =
        ask(server,
            "OPTIONS /json HTTP/1.1\r\nHost: localhost\r\nOrigin: http://localhost\r\n"
            "Access-Control-Request-Method: POST\r\n\r\n");
    CHECK(has(options, "HTTP/1.1 204 No Content"));
    CHECK(has(options, "Access-Control-Allow-Methods: POST\r\n"));
    CHECK(has(options, "Access-Control-Allow-Origin: http://localhost\r\n"));
    CHECK_FALSE(has(options, "Content-Length"));
}

TEST_CASE("errors take the shape of their route family") {
    LiveServer server;
    const std::string json = ask(server, get("/refuse/7"));
    CHECK(has(json, "HTTP/1.1 404"));
    CHECK(has(json, "Content-Type: application/json"));
    CHECK(has(json, "\"code\":404"));
    CHECK(has(json, "\"message\":\"there is no such thing\""));
    CHECK(has(json, "\"advice\":\"look elsewhere\""));
    const std::string text = ask(server, get("/refuse-text"));
    CHECK(has(text, "Content-Type: text/plain"));
    CHECK(has(text, "\r\n\r\nthere is no such thing (look elsewhere)"));
}

TEST_CASE("a handler that throws or forgets to answer is a 500, and the server lives") {
    LiveServer server;
    CHECK(has(ask(server, get("/throws")), "HTTP/1.1 500"));
    CHECK(has(ask(server, get("/silent")), "HTTP/1.1 500"));
    CHECK(has(ask(server, get("/hello")), "HTTP/1.1 200"));
}

TEST_CASE("a stream that fails in the middle is cut without its last chunk") {
    LiveServer server;
    RawClient client(server.port());
    client.send(get("/break"));
    const std::string answer = client.read_all();
    CHECK(has(answer, "4\r\nhalf\r\n"));
    CHECK_FALSE(has(answer, "0\r\n\r\n"));
}

TEST_CASE("files are sent whole, in ranges, and not at all when unchanged") {
    LiveServer server;
    const auto body = [](const std::string& answer) {
        return answer.substr(answer.find("\r\n\r\n") + 4);
    };
    const std::string whole = ask(server, get("/file"));
    CHECK(has(whole, "HTTP/1.1 200 OK"));
    CHECK(has(whole, "Accept-Ranges: bytes"));
    CHECK(body(whole) == server.file_text);
    const std::string part = ask(server, get("/file", "Range: bytes=10-299999\r\n"));
    CHECK(has(part, "HTTP/1.1 206 Partial Content"));
    CHECK(has(part, "Content-Range: bytes 10-299999/600000\r\n"));
    CHECK(body(part) == server.file_text.substr(10, 299'990));
    const std::string outside = ask(server, get("/file", "Range: bytes=600000-\r\n"));
    CHECK(has(outside, "HTTP/1.1 416"));
    CHECK(has(outside, "Content-Range: bytes */600000\r\n"));
    const std::string same = "Range: bytes=0-3\r\nIf-Range: \"v1\"\r\n";
    CHECK(has(ask(server, get("/file", same)), "HTTP/1.1 206"));
    const std::string other = "Range: bytes=0-3\r\nIf-Range: \"v0\"\r\n";
    CHECK(has(ask(server, get("/file", other)), "HTTP/1.1 200"));
    CHECK(has(ask(server, get("/file", "If-None-Match: W/\"v1\"\r\n")), "HTTP/1.1 304"));
    const std::string head = ask(server, "HEAD /file HTTP/1.1\r\nHost: localhost\r\n\r\n");
    CHECK(has(head, "Content-Length: 600000"));
    CHECK(body(head).empty());
}

TEST_CASE("Expect: 100-continue is answered when the body is wanted") {
    LiveServer server;
    RawClient client(server.port());
    client.send(
        "POST /echo HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
        "Content-Length: 3\r\n\r\n");
    CHECK(client.read_until("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
    client.send("abc");
    CHECK(has(client.read_until("3:abc"), "HTTP/1.1 200"));

    RawClient refused(server.port());
    refused.send(
        "POST /nowhere HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n"
        "Content-Length: 3\r\n\r\n");
    const std::string answer = refused.read_until("\r\n\r\n");
    CHECK(has(answer, "HTTP/1.1 404"));
    CHECK(has(answer, "Connection: close"));
}

TEST_CASE("an upgraded connection belongs to its handler") {
    LiveServer server;
    RawClient client(server.port());
    client.send(get("/upgrade", "Connection: Upgrade\r\nUpgrade: echo\r\n") + "ab");
    CHECK(has(client.read_until("\r\n\r\n"), "HTTP/1.1 101 Switching Protocols"));
    client.send("cd");
    CHECK(client.read_all() == "abcd");
}

TEST_CASE("more connections than allowed are told so") {
    ServerOptions options = LiveServer::fast_options();
    options.connections_max = 2;
    options.head_timeout = milliseconds(5000);
    LiveServer server(options);
    RawClient first(server.port());
    RawClient second(server.port());
    CHECK(eventually([&] { return server.connections() == 2; }));
    RawClient third(server.port());
    CHECK(has(third.read_all(), "HTTP/1.1 503"));
    first.close();
    CHECK(eventually([&] { return server.connections() == 1; }));
    CHECK(has(ask(server, get("/hello")), "HTTP/1.1 200"));
}

TEST_CASE("shutdown lets a running request finish and refuses new ones") {
    LiveServer server;
    RawClient idle(server.port());
    idle.send(get("/hello"));
    idle.read_until("hello");
    RawClient busy(server.port());
    busy.send(get("/short"));
    CHECK(eventually([&] { return server.connections() == 2; }));
    server.stop(milliseconds(5000));
    CHECK(has(busy.read_all(), "late"));
    CHECK(idle.read_all().empty());
    CHECK_FALSE(RawClient(server.port()).connected());
}

TEST_CASE("shutdown cuts off what does not end in its grace") {
    LiveServer server;
    RawClient busy(server.port());
    busy.send(get("/long"));
    CHECK(eventually([&] { return server.connections() == 1; }));
    server.stop(milliseconds(100));
    CHECK(server.seen().cancelled == 1);
    CHECK(busy.read_all().empty());
}

TEST_CASE("the guard lets in by token, host and origin") {
    gateway::auth::GuardOptions allowed;
    allowed.token = "e2b_0123456789abcdef";
    allowed.allowed_hosts = {"box.example.org", "*.lab.example"};
    allowed.allowed_origins = {"https://app.example.org"};
    LiveServer server(LiveServer::fast_options(),
                      std::make_shared<gateway::auth::TokenGuard>(allowed));
    const auto status = [&](const std::string& text) { return ask(server, text).substr(9, 3); };
    CHECK(status(get("/open")) == "200");
    CHECK(status(get("/hello")) == "401");
    CHECK(status(get("/hello?token=e2b_0123456789abcdef")) == "200");
    CHECK(status(get("/hello?token=e2b_0123456789abcdee")) == "401");
    CHECK(status(get("/hello", "Authorization: token e2b_0123456789abcdef\r\n")) == "200");
    CHECK(status(get("/hello", "Authorization: Bearer e2b_0123456789abcdef\r\n")) == "200");
    CHECK(status(get("/hello", "Authorization: Basic e2b_0123456789abcdef\r\n")) == "401");
    CHECK(status(get("/hello", "Authorization: e2b_0123456789abcdef\r\n")) == "401");
    CHECK(status(get("/hello", "X-API-KEY: e2b_0123456789abcdef\r\n")) == "200");
    CHECK(status(get("/hello", "X-Access-Token: e2b_0123456789abcdef\r\n")) == "200");
    CHECK(status(get("/hello", "E2B-Traffic-Access-Token: e2b_0123456789abcdef\r\n")) == "200");

    const auto from = [&](const std::string& host, const std::string& origin) {
        std::string text = "GET /open HTTP/1.1\r\nHost: " + host + "\r\n";
        if (!origin.empty()) text += "Origin: " + origin + "\r\n";
        return status(text + "\r\n");
    };
    CHECK(from("127.0.0.1:8888", "") == "200");
    CHECK(from("[::1]:8888", "") == "200");
    CHECK(from("LOCALHOST", "") == "200");
    CHECK(from("49999-abc.localhost:8888", "") == "200");
    CHECK(from("box.example.org", "") == "200");
    CHECK(from("a.lab.example:1", "") == "200");
    CHECK(from("evil.example", "") == "403");
    CHECK(from("localhost.evil.example", "") == "403");
    CHECK(from("evillocalhost", "") == "403");
    CHECK(from("localhost:8888", "http://localhost:8888") == "200");
    CHECK(from("localhost:8888", "http://localhost:9999") == "403");
    CHECK(from("localhost", "https://app.example.org") == "200");
    CHECK(from("localhost", "https://evil.example") == "403");
    CHECK(from("localhost", "null") == "403");
}
