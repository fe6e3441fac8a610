// Bad input and vanishing clients: each has its status, and the server goes on.
#include <doctest/doctest.h>

#include "live_server.h"

using namespace cellblock;
using namespace cellblock::gateway::http;
using namespace cellblock::gateway::http::testing;

TEST_CASE("bad JSON bodies have their status and a message") {
    LiveServer server;
    const auto status = [&](const std::string& body) {
        return ask(server, post("/json", body)).substr(9, 3);
    };
    CHECK(status(R"({"code":"1"})") == "200");
    CHECK(status("not json") == "400");
    CHECK(status(R"({"code":1})") == "400");
    CHECK(status(R"({"code":null})") == "400");
    CHECK(status(R"([1])") == "400");
    CHECK(status("") == "400");
    CHECK(status(std::string(100'000, '[')) == "400");
    CHECK(status(R"({"code":)" + std::string(5000, '[') + std::string(5000, ']') + "}") == "400");
    CHECK(status("{\"code\":\"\xff\xfe\"}") == "400");
    CHECK(status("{\"code\":\"\xed\xa0\x80\"}") == "400");
    const std::string answer = ask(server, post("/json", "{\"code\": nope}"));
    CHECK(has(answer, "\"error_code\":\"invalid_argument\""));
}

TEST_CASE("a body over the limit is refused so that its sender can read why") {
    LiveServer server;
    constexpr std::size_t size = 100u * 1024 * 1024;
    const std::string block(1024 * 1024, 'x');
    SUBCASE("announced by Content-Length, all of it sent before the answer is read") {
        RawClient client(server.port());
        client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
                    std::to_string(size) + "\r\n\r\n");
        std::size_t sent = 0;
        while (sent < size && client.send(block)) sent += block.size();
        CHECK(sent == size);
        const std::string answer = client.read_all();
        CHECK(has(answer, "HTTP/1.1 413 Content Too Large"));
        CHECK(has(answer, "at most 1048576 are taken here"));
    }
    SUBCASE("found out while it comes in chunks") {
        RawClient client(server.port());
        client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n");
        bool sent = true;
        for (int i = 0; i < 100 && sent; ++i) sent = client.send("100000\r\n" + block + "\r\n");
        CHECK(sent);
        CHECK(has(client.read_all(), "HTTP/1.1 413"));
    }
    CHECK(has(ask(server, get("/hello")), "HTTP/1.1 200"));
}

TEST_CASE("malformed heads get their status and the connection ends") {
    LiveServer server;
    const auto status = [&](const std::string& bytes) {
        RawClient client(server.port());
        client.send(bytes);
        const std::string answer = client.read_all();
        return answer.size() > 12 ? answer.substr(9, 3) : "none";
    };
    CHECK(status("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n") ==
          "400");
    CHECK(status("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n"
                 "\r\n") == "400");
    CHECK(status("GET / HTTP/1.1\n\n") == "400");
    CHECK(status("GET /" + std::string(20'000, 'a')) == "431");
    CHECK(status("GET / HTTP/1.1\r\nX: " + std::string(20'000, 'a')) == "431");
    CHECK(status("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03") == "400");
    CHECK(status("GET / HTTP/3.0\r\nHost: a\r\n\r\n") == "505");
    CHECK(status(std::string("\0\0\0\0\r\n\r\n", 8)) == "400");
}

TEST_CASE("malformed chunked bodies are refused") {
    LiveServer server;
    const auto status = [&](const std::string& body) {
        RawClient client(server.port());
        client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" +
                    body);
        const std::string answer = client.read_until("\r\n");
        return answer.size() > 12 ? answer.substr(9, 3) : "none";
    };
    CHECK(status("3\r\nabc\r\n0\r\n\r\n") == "200");
    CHECK(status("x\r\nabc\r\n0\r\n\r\n") == "400");
    CHECK(status("-3\r\nabc\r\n0\r\n\r\n") == "400");
    CHECK(status("3\r\nabcd\r\n0\r\n\r\n") == "400");
    CHECK(status("fffffffffffffffff\r\nabc") == "400");
    CHECK(status("3;" + std::string(20'000, 'e')) == "400");
    CHECK(status("3\r\nabc\r\n0\r\nContent-Length: 5\r\n\r\n") == "400");
}

TEST_CASE("a head that drips in is cut off at the deadline, however busy it looks") {
    LiveServer server;
    RawClient client(server.port());
    const auto begin = std::chrono::steady_clock::now();
    client.send("GET /hello HTTP/1.1\r\n");
    std::string answer;
    while (std::chrono::steady_clock::now() - begin < milliseconds(3000)) {
        if (!client.send("X: y\r\n")) break;
        if (client.closed_within(milliseconds(50))) break;
        if (server.connections() == 0) break;
    }
    const auto lasted = std::chrono::steady_clock::now() - begin;
    CHECK(lasted >= milliseconds(350));
    CHECK(lasted < milliseconds(1500));

    RawClient silent(server.port());
    silent.send("GET /hello HT");
    CHECK(has(silent.read_all(), "HTTP/1.1 408"));
}

TEST_CASE("connections that say nothing, or stall in a body, end") {
    LiveServer server;
    RawClient nothing(server.port());
    CHECK(nothing.read_all().empty());
    RawClient idle(server.port());
    idle.send(get("/hello"));
    idle.read_until("hello");
    CHECK(idle.read_all().empty());
    RawClient stalled(server.port());
    stalled.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
    CHECK(has(stalled.read_all(), "HTTP/1.1 408"));
    CHECK(eventually([&] { return server.connections() == 0; }));
}

TEST_CASE("a client that half-closes after its request still gets the answer") {
    LiveServer server;
    for (const char* path : {"/hello", "/short", "/short-finish", "/lines", "/file"}) {
        CAPTURE(path);
        RawClient client(server.port());
        client.send(get(path));
        client.half_close();
        const std::string answer = client.read_all();
        CHECK(has(answer, "HTTP/1.1 200"));
        if (std::string_view(path) == "/lines") {
            CHECK(has(answer, "line 9\n"));
            CHECK(has(answer, "{\"type\":\"keepalive\"}\n"));
            CHECK(has(answer, "0\r\n\r\n"));
        }
    }
    CHECK(server.seen().cancelled == 0);
    RawClient half(server.port());
    half.send("GET /hello HTTP/1.1\r\nHo");
    half.half_close();
    CHECK(has(half.read_all(), "HTTP/1.1 400"));
    RawClient body(server.port());
    body.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc");
    body.half_close();
    CHECK(has(body.read_all(), "HTTP/1.1 400"));
}

TEST_CASE("a vanished client cancels long handlers within a second, others finish") {
    ServerOptions options = LiveServer::fast_options();
    options.sweep_interval = limits::http_sweep_interval;  // as shipped
    LiveServer server(options);
    const auto vanish = [&](const char* path, bool hard) {
        RawClient client(server.port());
        client.send(get(path));
        CHECK(eventually([&] { return server.connections() > 0; }));
        ::poll(nullptr, 0, 50);
        hard ? client.reset() : client.close();
    };
    for (const bool hard : {false, true}) {
        for (const char* path : {"/long", "/lines"}) {
            CAPTURE(path);
            CAPTURE(hard);
            const int before = server.seen().cancelled;
            vanish(path, hard);
            CHECK(eventually([&] { return server.seen().cancelled == before + 1; },
                             milliseconds(1000)));
        }
    }
    const int cancelled = server.seen().cancelled;
    vanish("/short-finish", true);
    CHECK(eventually([&] { return server.seen().completed == 1; }));
    CHECK(server.seen().cancelled == cancelled);
    CHECK(has(server.metrics(), "status=\"499\""));
}

TEST_CASE("a reader that does not read stops the writer, then loses its connection") {
    LiveServer server;
    RawClient client(server.port(), 4096);
    client.send(get("/flood"));
    ::poll(nullptr, 0, 300);
    const std::size_t written = server.seen().flooded_bytes;
    CHECK(written < 32u * 1024 * 1024);
    CHECK(eventually([&] { return server.connections() == 0; }));
    CHECK(server.seen().flooded_bytes <= written + 8u * 1024 * 1024);
}

TEST_CASE("a thousand aborted connections leave nothing behind") {
    LiveServer server;
    ask(server, get("/hello"));
    CHECK(eventually([&] { return server.connections() == 0; }));
    const std::size_t before = open_descriptors();
    for (int i = 0; i < 1000; ++i) {
        RawClient client(server.port());
        REQUIRE(client.connected());
        switch (i % 5) {
            case 0:
                client.close();
                break;
            case 1:
                client.send("GET /he");
                client.reset();
                break;
            case 2:
                client.send(get("/lines"));
                client.reset();
                break;
            case 3:
                client.send("POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\nx");
                client.close();
                break;
            default:
                client.send(get("/file"));
                client.reset();
        }
    }
    CHECK(eventually([&] { return server.connections() == 0; }, milliseconds(20'000)));
    CHECK(open_descriptors() == before);
    CHECK(has(ask(server, get("/hello")), "HTTP/1.1 200"));
}
