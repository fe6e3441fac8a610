// Jupyter sessions as values, and the store that keeps them for the gateway after this one.
#include <doctest/doctest.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "base/spawn.h"
#include "gateway/jupyter/session_store.h"
#include "tests/unit/temporary_folder.h"

namespace cellblock::gateway::jupyter {
namespace {

namespace asio = boost::asio;

DocumentSession session_of(const std::string& path) {
    DocumentSession session;
    session.id = "id of " + path;
    session.path = path;
    session.name = "na\"me";
    session.type = "notebook";
    session.kernel_id = "kernel of " + path;
    return session;
}

// What a store reads from `file`; the loop ends when it has nothing left to do.
Result<std::vector<DocumentSession>> opened(const std::filesystem::path& file) {
    asio::io_context loop;
    WorkerPool workers(1);
    SessionStore store(loop.get_executor(), workers, file);
    Result<void> result;
    asio::co_spawn(loop, store.open(), [&result](std::exception_ptr thrown, Result<void> value) {
        REQUIRE_FALSE(thrown);
        result = std::move(value);
    });
    loop.run();
    if (!result) return fail(result.error());
    return store.all();
}

}  // namespace

TEST_CASE("a store without a file yet is empty") {
    const TemporaryFolder folder;
    const auto sessions = opened(folder / "sessions.json");
    REQUIRE(sessions.has_value());
    CHECK(sessions->empty());
}

TEST_CASE("what a store kept, the next store has, and nothing that was removed") {
    const TemporaryFolder folder;
    {
        asio::io_context loop;
        WorkerPool workers(2);
        SessionStore store(loop.get_executor(), workers, folder / "sessions.json");
        // Several requests at once: each returns when its own change is on disk.
        const auto change = [&]<typename Change>(Change make) {
            make();
            spawn_logged(loop.get_executor(), store.keep(), "keep", nullptr);
        };
        change([&] { store.add(session_of("a.ipynb")); });
        change([&] { store.add(session_of("ä/b.ipynb")); });
        change([&] { store.remove("id of a.ipynb"); });
        change([&] { store.find_by_path("ä/b.ipynb")->name = "renamed"; });
        loop.run();
    }
    const auto sessions = opened(folder / "sessions.json");
    REQUIRE(sessions.has_value());
    REQUIRE(sessions->size() == 1);
    CHECK(sessions->front().id == "id of ä/b.ipynb");
    CHECK(sessions->front().path == "ä/b.ipynb");
    CHECK(sessions->front().name == "renamed");
    CHECK(sessions->front().type == "notebook");
    CHECK(sessions->front().kernel_id == "kernel of ä/b.ipynb");
}

TEST_CASE("a file that is not the sessions' is an error, not a crash") {
    const TemporaryFolder folder;
    for (const char* text :
         {"", "{", "{}", "[1]", R"([{"id": "a"}])", R"([{"id": 1, "path": ""}])"}) {
        CAPTURE(text);
        folder.write("sessions.json", text);
        CHECK_FALSE(opened(folder / "sessions.json").has_value());
    }
}

TEST_CASE("a folder that cannot be written does not hold up a request") {
    asio::io_context loop;
    WorkerPool workers(1);
    SessionStore store(loop.get_executor(), workers, "/nonexistent/sessions.json");
    store.add(session_of("a.ipynb"));
    bool answered = false;
    asio::co_spawn(loop, store.keep(), [&answered](std::exception_ptr) { answered = true; });
    loop.run();
    CHECK(answered);
}

TEST_CASE("a store has room for a bounded number of sessions") {
    asio::io_context loop;
    WorkerPool workers(1);
    SessionStore store(loop.get_executor(), workers, "");
    for (std::size_t i = 0; i < sessions_max; ++i) {
        REQUIRE(store.check_room().has_value());
        store.add(session_of(std::to_string(i)));
    }
    const auto room = store.check_room();
    REQUIRE_FALSE(room.has_value());
    CHECK(room.error().code == ErrorCode::too_many);
}

TEST_CASE("the texts of a session are bounded") {
    Json body = {{"path", std::string(session_text_max_bytes, 'p')}, {"type", "notebook"}};
    CHECK(session_body_from(body).has_value());
    for (const char* field : {"path", "name", "type"}) {
        Json longer = body;
        longer[field] = std::string(session_text_max_bytes + 1, 'p');
        const auto refused = session_body_from(longer);
        REQUIRE_FALSE(refused.has_value());
        CHECK(refused.error().cause.find(field) != std::string::npos);
    }
}

}  // namespace cellblock::gateway::jupyter
