#include "artifacts/store.h"

#include <doctest/doctest.h>

#include <fstream>

#include <SQLiteCpp/SQLiteCpp.h>

#include "tests/unit/artifacts/content_files.h"
#include "tests/unit/temporary_folder.h"

using namespace cellblock;
using namespace cellblock::artifacts;

namespace {

ArtifactInfo info_of(const std::string& name, const std::string& execution = "e1",
                     const std::string& tenant = "t1") {
    ArtifactInfo info;
    info.name = name;
    info.mime = "text/plain";
    info.kind = ArtifactKind::text;
    info.execution_id = execution;
    info.sandbox_id = "s1";
    info.tenant = tenant;
    return info;
}

Quotas small_quotas() {
    Quotas quotas;
    quotas.disk_reserve_bytes = 0;
    return quotas;
}

std::unique_ptr<Store> open_store(const std::filesystem::path& folder,
                                  Quotas quotas = small_quotas()) {
    auto store = Store::open(folder, quotas);
    REQUIRE_MESSAGE(store, (store ? "" : store.error().text()));
    return std::move(*store);
}

std::string content_of(Store& store, const std::string& id) {
    auto open = store.open_content(id);
    REQUIRE(open);
    std::string text(open->artifact.size_bytes + 10, '\0');
    auto read = read_at(open->fd, 0, std::as_writable_bytes(std::span(text)));
    REQUIRE(read);
    text.resize(*read);
    return text;
}

}  // namespace

TEST_CASE("what is put can be read, listed and removed") {
    TemporaryFolder folder;
    auto store = open_store(folder.path());
    ArtifactInfo info = info_of("note.txt");
    info.metadata["lines"] = 1;
    auto put = store->put(as_bytes("hello"), info);
    REQUIRE(put);
    CHECK(put->sha256 == "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824");
    CHECK(content_of(*store, put->id) == "hello");
    const auto got = store->get(put->id);
    REQUIRE(got);
    CHECK(got->info.name == "note.txt");
    CHECK(got->info.metadata["lines"] == 1);
    CHECK(got->size_bytes == 5);
    ListQuery query;
    query.execution_id = "e1";
    CHECK(store->list(query)->size() == 1);
    query.tenant = "another";
    CHECK(store->list(query)->empty());
    CHECK(store->remove(put->id));
    CHECK(store->get(put->id).error().code == ErrorCode::not_found);
    CHECK(store->remove(put->id).error().code == ErrorCode::not_found);
    CHECK(content_files(folder.path()) == 0);
}

TEST_CASE("an artifact may be named before it is stored, and no two are named alike") {
    TemporaryFolder folder;
    auto store = open_store(folder.path());
    ArtifactInfo info = info_of("note.txt");
    info.id = "named0before0it0is00";
    const auto put = store->put(as_bytes("hello"), info);
    REQUIRE(put);
    CHECK(put->id == info.id);
    CHECK_FALSE(store->put(as_bytes("other"), info));
    CHECK(content_of(*store, info.id) == "hello");
    CHECK(store->usage()->blobs == 1);
}

TEST_CASE("a stream in pieces, with its name and type learnt on the way") {
    TemporaryFolder folder;
    auto store = open_store(folder.path());
    auto writer = store->begin(info_of("unknown"));
    REQUIRE(writer);
    REQUIRE(writer->append(as_bytes("a,b\n")));
    REQUIRE(writer->append(as_bytes("1,2\n")));
    ArtifactInfo info = info_of("../data.csv");
    info.mime = "text/csv";
    info.tenant = "another tenant cannot be chosen late";
    auto artifact = writer->finish(info);
    REQUIRE(artifact);
    CHECK(artifact->info.mime == "text/csv");
    CHECK(artifact->info.name == "data.csv");
    CHECK(artifact->info.tenant == "t1");
    CHECK(content_of(*store, artifact->id) == "a,b\n1,2\n");
    CHECK(writer->append(as_bytes("late")).error().code == ErrorCode::conflict);
    CHECK(writer->finish().error().code == ErrorCode::conflict);
}

TEST_CASE("equal content is kept once and goes with its last artifact") {
    TemporaryFolder folder;
    auto store = open_store(folder.path());
    const auto first = store->put(as_bytes("same"), info_of("one"));
    const auto second = store->put(as_bytes("same"), info_of("two"));
    REQUIRE(second);
    CHECK(first->id != second->id);
    CHECK(content_files(folder.path()) == 1);
    CHECK(store->usage()->blobs == 1);
    CHECK(store->usage()->bytes == 8);
    REQUIRE(store->remove(first->id));
    CHECK(content_of(*store, second->id) == "same");
    REQUIRE(store->remove(second->id));
    CHECK(content_files(folder.path()) == 0);
}

TEST_CASE("a dropped or aborted writer leaves nothing") {
    TemporaryFolder folder;
    auto store = open_store(folder.path());
    {
        auto writer = store->begin(info_of("x"));
        REQUIRE(writer->append(as_bytes("half")));
        CHECK(content_files(folder.path()) == 1);
    }
    CHECK(content_files(folder.path()) == 0);
    CHECK(store->usage()->artifacts == 0);
}

TEST_CASE("an open content outlives removal, a writer outlives the store") {
    TemporaryFolder folder;
    auto store = open_store(folder.path());
    const auto artifact = store->put(as_bytes("still here"), info_of("x"));
    auto open = store->open_content(artifact->id);
    REQUIRE(store->remove(artifact->id));
    std::string text(5, '\0');
    CHECK(*read_at(open->fd, 6, std::as_writable_bytes(std::span(text))) == 4);
    CHECK(text.substr(0, 4) == "here");
    auto writer = store->begin(info_of("late"));
    REQUIRE(writer);
    store.reset();
    REQUIRE(writer->append(as_bytes("z")));
    auto late = writer->finish();
    REQUIRE(late);
    CHECK(content_of(*open_store(folder.path()), late->id) == "z");
}

TEST_CASE("quotas: one artifact, one execution, one tenant") {
    TemporaryFolder folder;
    Quotas quotas = small_quotas();
    quotas.artifact_max_bytes = 10;
    quotas.bytes_per_execution_max = 15;
    quotas.bytes_per_tenant_max = 20;
    quotas.per_execution_max = 3;
    auto store = open_store(folder.path(), quotas);
    CHECK(store->put(as_bytes("12345678901"), info_of("x")).error().code == ErrorCode::too_large);
    REQUIRE(store->put(as_bytes("1234567890"), info_of("x")));
    CHECK(store->put(as_bytes("123456"), info_of("x")).error().code == ErrorCode::too_large);
    REQUIRE(store->put(as_bytes("12345"), info_of("x")));
    CHECK(store->put(as_bytes("123456"), info_of("x", "e2")).error().code == ErrorCode::too_large);
    REQUIRE(store->put(as_bytes("12345"), info_of("x", "e2")));
    REQUIRE(store->put(as_bytes("1234567890"), info_of("x", "e2", "t2")));
    REQUIRE(store->put(as_bytes(""), info_of("x")));
    CHECK(store->put(as_bytes(""), info_of("x")).error().code == ErrorCode::too_many);
    // Space comes back, also for a store opened anew.
    ListQuery query;
    query.execution_id = "e1";
    const auto mine = store->list(query);
    for (const Artifact& artifact : *mine) REQUIRE(store->remove(artifact.id));
    store.reset();
    store = open_store(folder.path(), quotas);
    CHECK(store->put(as_bytes("1234567890"), info_of("x")));
    CHECK(store->put(as_bytes("123456"), info_of("x", "e3")).error().code == ErrorCode::too_large);
}

TEST_CASE("writers under way count, and a failed one says the same again") {
    TemporaryFolder folder;
    Quotas quotas = small_quotas();
    quotas.bytes_per_tenant_max = 10;
    auto store = open_store(folder.path(), quotas);
    auto first = store->begin(info_of("x"));
    auto second = store->begin(info_of("y"));
    REQUIRE(first->append(as_bytes("12345678")));
    CHECK(second->append(as_bytes("123")).error().code == ErrorCode::too_large);
    first->abort();
    CHECK(second->append(as_bytes("1")).error().code == ErrorCode::too_large);
    CHECK(second->finish().error().code == ErrorCode::too_large);
    CHECK(store->put(as_bytes("1234567890"), info_of("z")));
}

TEST_CASE("the disk's reserve is not taken") {
    TemporaryFolder folder;
    Quotas quotas;
    quotas.disk_reserve_bytes = UINT64_MAX;
    auto store = open_store(folder.path(), quotas);
    const auto refused = store->put(as_bytes("x"), info_of("x"));
    REQUIRE_FALSE(refused);
    CHECK(refused.error().code == ErrorCode::disk_full);
    CHECK(refused.error().advice != "");
}

TEST_CASE("gc by age and by size spares what is pinned") {
    TemporaryFolder folder;
    auto store = open_store(folder.path());
    std::vector<std::string> ids;
    for (int i = 0; i < 250; ++i) {
        ids.push_back(
            store->put(as_bytes("0123456789"), info_of("x", "e" + std::to_string(i)))->id);
    }
    REQUIRE(store->set_pinned(ids[0], true));
    GcPolicy by_size;
    by_size.max_total_bytes = 1000;
    CHECK(*store->gc(by_size) == 150);
    CHECK(store->get(ids[0]));
    CHECK_FALSE(store->get(ids[1]));
    CHECK(store->get(ids[249]));
    GcPolicy by_age;
    by_age.max_age = std::chrono::seconds(0);  // also what was stored in this very second
    CHECK(*store->gc(by_age) == 99);
    CHECK(store->usage()->artifacts == 1);
    CHECK(store->remove_sandbox("s1") == 1);
    CHECK(content_files(folder.path()) == 0);
}

TEST_CASE("one owner at a time, and no newer schema") {
    TemporaryFolder folder;
    auto store = open_store(folder.path());
    const auto second = Store::open(folder.path());
    REQUIRE_FALSE(second);
    CHECK(second.error().code == ErrorCode::conflict);
    store.reset();
    {
        SQLite::Database database((folder.path() / "index.db").string(), SQLite::OPEN_READWRITE);
        database.exec("PRAGMA user_version = 99");
    }
    const auto newer = Store::open(folder.path());
    REQUIRE_FALSE(newer);
    CHECK(newer.error().code == ErrorCode::not_supported);
}

TEST_CASE("clean_up removes what a crash leaves and nothing else") {
    TemporaryFolder folder;
    auto store = open_store(folder.path());
    const auto kept = store->put(as_bytes("kept"), info_of("x"));
    const auto lost = store->put(as_bytes("lost"), info_of("x"));
    auto writer = store->begin(info_of("under way"));
    REQUIRE(writer->append(as_bytes("w")));
    std::ofstream(folder.path() / "tmp" / "otherrun-abc") << "half";
    const std::string orphan(64, 'a');
    std::filesystem::create_directory(folder.path() / "aa");
    std::ofstream(folder.path() / "aa" / orphan.substr(2)) << "orphan";
    std::filesystem::remove(folder.path() / lost->sha256.substr(0, 2) / lost->sha256.substr(2));
    const auto report = store->clean_up();
    REQUIRE(report);
    CHECK(report->temporary_files == 1);
    CHECK(report->unindexed_blobs == 1);
    CHECK(report->rows_without_blob == 1);
    CHECK(content_of(*store, kept->id) == "kept");
    CHECK(store->get(lost->id).error().code == ErrorCode::not_found);
    REQUIRE(writer->finish());
    CHECK(store->clean_up()->unindexed_blobs == 0);
}

TEST_CASE("bad ids and oversized metadata are refused") {
    TemporaryFolder folder;
    auto store = open_store(folder.path());
    CHECK(store->get("../../etc/passwd").error().code == ErrorCode::not_found);
    CHECK(store->open_content("").error().code == ErrorCode::not_found);
    ArtifactInfo info = info_of("x");
    info.metadata["big"] = std::string(limits::artifact_metadata_max_bytes, 'x');
    CHECK(store->put(as_bytes("x"), info).error().code == ErrorCode::too_large);
}
