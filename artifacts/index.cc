#include "artifacts/index.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>

#include <cerrno>
#include <utility>

#include "artifacts/store.h"

namespace cellblock::artifacts {
namespace {

constexpr int schema_version = 1;
constexpr int busy_timeout_ms = 5000;

constexpr const char* schema = R"(
CREATE TABLE artifact (
  id TEXT PRIMARY KEY,
  sha256 TEXT NOT NULL,
  size INTEGER NOT NULL,
  mime TEXT NOT NULL,
  name TEXT NOT NULL,
  kind TEXT NOT NULL,
  execution_id TEXT NOT NULL,
  sandbox_id TEXT NOT NULL,
  tenant TEXT NOT NULL,
  created_at_ns INTEGER NOT NULL,
  pinned INTEGER NOT NULL,
  metadata TEXT NOT NULL
) STRICT;
CREATE INDEX artifact_by_content ON artifact (sha256);
CREATE INDEX artifact_by_execution ON artifact (execution_id, created_at_ns);
CREATE INDEX artifact_by_sandbox ON artifact (sandbox_id, created_at_ns);
CREATE INDEX artifact_by_tenant ON artifact (tenant, created_at_ns);
CREATE INDEX artifact_by_age ON artifact (created_at_ns);
)";

constexpr const char* artifact_columns =
    "id, sha256, size, mime, name, kind, execution_id, sandbox_id, tenant, created_at_ns, pinned, "
    "metadata";

Error error_of(const SQLite::Exception& exception, std::string_view doing) {
    const int code = exception.getErrorCode();
    ErrorCode kind = ErrorCode::io;
    std::string advice;
    if (code == SQLITE_FULL) {
        kind = ErrorCode::disk_full;
        advice = "free some space on the disk of the state directory";
    } else if (code == SQLITE_BUSY || code == SQLITE_LOCKED) {
        kind = ErrorCode::unavailable;
    } else if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB) {
        advice = "move index.db aside; artifacts in it are lost, new ones will work";
    }
    return Error(kind, "artifact index: could not " + std::string(doing) + ": " + exception.what(),
                 std::move(advice));
}

// Runs `function` and turns SQLiteCpp's exceptions into errors. An I/O error whose errno says that
// the disk is full is told as such: SQLite reports some of them as SQLITE_IOERR.
template <typename Function>
auto guarded(SQLite::Database& database, std::string_view doing, Function function)
    -> Result<decltype(function())> {
    try {
        if constexpr (std::is_void_v<decltype(function())>) {
            function();
            return {};
        } else {
            return function();
        }
    } catch (const SQLite::Exception& exception) {
        Error error = error_of(exception, doing);
        const int number = sqlite3_system_errno(database.getHandle());
        if (exception.getErrorCode() == SQLITE_IOERR && (number == ENOSPC || number == EDQUOT)) {
            error.code = ErrorCode::disk_full;
        }
        return fail(std::move(error));
    }
}

Artifact read_row(SQLite::Statement& row) {
    Artifact artifact;
    artifact.id = row.getColumn(0).getString();
    artifact.sha256 = row.getColumn(1).getString();
    artifact.size_bytes = static_cast<std::uint64_t>(row.getColumn(2).getInt64());
    artifact.info.mime = row.getColumn(3).getString();
    artifact.info.name = row.getColumn(4).getString();
    artifact.info.kind =
        artifact_kind_from(row.getColumn(5).getString()).value_or(ArtifactKind::file);
    artifact.info.execution_id = row.getColumn(6).getString();
    artifact.info.sandbox_id = row.getColumn(7).getString();
    artifact.info.tenant = row.getColumn(8).getString();
    artifact.created_at_ns = row.getColumn(9).getInt64();
    artifact.pinned = row.getColumn(10).getInt() != 0;
    artifact.info.metadata = Json::parse(row.getColumn(11).getString(), nullptr, false);
    if (!artifact.info.metadata.is_object()) artifact.info.metadata = Json::object();
    return artifact;
}

Totals read_totals(SQLite::Statement& statement) {
    Totals totals;
    if (statement.executeStep()) {
        totals.count = static_cast<std::uint64_t>(statement.getColumn(0).getInt64());
        totals.bytes = static_cast<std::uint64_t>(statement.getColumn(1).getInt64());
    }
    return totals;
}

std::vector<std::string> read_ids(SQLite::Statement& statement) {
    std::vector<std::string> ids;
    while (statement.executeStep()) ids.push_back(statement.getColumn(0).getString());
    return ids;
}

int limit_of(std::size_t limit) {
    return static_cast<int>(std::min(limit, limits::artifact_list_max));
}

}  // namespace

Index::Index(std::unique_ptr<SQLite::Database> database) : database_(std::move(database)) {}
Index::~Index() = default;

Result<std::unique_ptr<Index>> Index::open(const std::filesystem::path& file) {
    std::unique_ptr<SQLite::Database> database;
    try {
        database = std::make_unique<SQLite::Database>(
            file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, busy_timeout_ms);
    } catch (const SQLite::Exception& exception) {
        return fail(error_of(exception, "open " + file.string()));
    }
    auto version = guarded(*database, "prepare " + file.string(), [&database] {
        database->exec(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
            "PRAGMA trusted_schema = OFF; PRAGMA journal_size_limit = 4194304");
        const int found = database->execAndGet("PRAGMA user_version").getInt();
        if (found != 0) return found;
        SQLite::Transaction transaction(*database);
        database->exec(schema);
        database->exec("PRAGMA user_version = " + std::to_string(schema_version));
        transaction.commit();
        return schema_version;
    });
    CB_TRY(version);
    if (*version > schema_version) {
        return fail(ErrorCode::not_supported,
                    file.string() + " was written by a newer version (schema " +
                        std::to_string(*version) + ", this one knows " +
                        std::to_string(schema_version) + ")",
                    "use the newer version, or another state directory");
    }
    return std::unique_ptr<Index>(new Index(std::move(database)));
}

Result<void> Index::insert(const Artifact& artifact) {
    return guarded(*database_, "add an artifact", [this, &artifact] {
        SQLite::Statement insert(*database_, "INSERT INTO artifact (" +
                                                 std::string(artifact_columns) +
                                                 ") VALUES (?,?,?,?,?,?,?,?,?,?,?,?)");
        insert.bind(1, artifact.id);
        insert.bind(2, artifact.sha256);
        insert.bind(3, static_cast<std::int64_t>(artifact.size_bytes));
        insert.bind(4, artifact.info.mime);
        insert.bind(5, artifact.info.name);
        insert.bind(6, std::string(to_string(artifact.info.kind)));
        insert.bind(7, artifact.info.execution_id);
        insert.bind(8, artifact.info.sandbox_id);
        insert.bind(9, artifact.info.tenant);
        insert.bind(10, artifact.created_at_ns);
        insert.bind(11, artifact.pinned ? 1 : 0);
        insert.bind(12, dump_ascii(artifact.info.metadata));
        insert.exec();
    });
}

Result<std::optional<Artifact>> Index::find(const std::string& id) {
    return guarded(*database_, "look an artifact up", [this, &id]() -> std::optional<Artifact> {
        SQLite::Statement row(
            *database_, "SELECT " + std::string(artifact_columns) + " FROM artifact WHERE id = ?");
        row.bind(1, id);
        if (!row.executeStep()) return std::nullopt;
        return read_row(row);
    });
}

Result<std::vector<Artifact>> Index::list(const ListQuery& query) {
    return guarded(*database_, "list artifacts", [this, &query] {
        std::string sql = "SELECT " + std::string(artifact_columns) + " FROM artifact WHERE 1";
        std::vector<std::string> values;
        const auto match = [&sql, &values](const char* condition, const std::string& value) {
            if (value.empty()) return;
            sql += condition;
            values.push_back(value);
        };
        match(" AND execution_id = ?", query.execution_id);
        match(" AND sandbox_id = ?", query.sandbox_id);
        match(" AND tenant = ?", query.tenant);
        sql += " ORDER BY created_at_ns DESC, id DESC LIMIT ? OFFSET ?";
        SQLite::Statement rows(*database_, sql);
        int position = 0;
        for (const std::string& value : values) rows.bind(++position, value);
        rows.bind(++position, limit_of(query.limit));
        rows.bind(++position, static_cast<std::int64_t>(query.offset));
        std::vector<Artifact> artifacts;
        while (rows.executeStep()) artifacts.push_back(read_row(rows));
        return artifacts;
    });
}

Result<std::optional<Artifact>> Index::erase(const std::string& id) {
    CB_TRY_ASSIGN(found, find(id));
    if (!found) return std::optional<Artifact>();
    auto erased = guarded(*database_, "remove an artifact", [this, &id] {
        SQLite::Statement erase(*database_, "DELETE FROM artifact WHERE id = ?");
        erase.bind(1, id);
        erase.exec();
    });
    CB_TRY(erased);
    return found;
}

Result<bool> Index::set_pinned(const std::string& id, bool pinned) {
    return guarded(*database_, "pin an artifact", [this, &id, pinned] {
        SQLite::Statement update(*database_, "UPDATE artifact SET pinned = ? WHERE id = ?");
        update.bind(1, pinned ? 1 : 0);
        update.bind(2, id);
        return update.exec() > 0;
    });
}

Result<bool> Index::references(const std::string& sha256) {
    return guarded(*database_, "look content up", [this, &sha256] {
        SQLite::Statement row(*database_, "SELECT 1 FROM artifact WHERE sha256 = ? LIMIT 1");
        row.bind(1, sha256);
        return row.executeStep();
    });
}

Result<Totals> Index::totals() {
    return guarded(*database_, "sum artifacts up", [this] {
        SQLite::Statement row(*database_, "SELECT count(*), coalesce(sum(size), 0) FROM artifact");
        return read_totals(row);
    });
}

Result<std::uint64_t> Index::distinct_contents() {
    return guarded(*database_, "count contents", [this] {
        return static_cast<std::uint64_t>(
            database_->execAndGet("SELECT count(DISTINCT sha256) FROM artifact").getInt64());
    });
}

Result<Totals> Index::totals_of_execution(const std::string& execution_id) {
    return guarded(*database_, "sum artifacts up", [this, &execution_id] {
        SQLite::Statement row(*database_,
                              "SELECT count(*), coalesce(sum(size), 0) FROM artifact "
                              "WHERE execution_id = ?");
        row.bind(1, execution_id);
        return read_totals(row);
    });
}

Result<Totals> Index::totals_of_tenant(const std::string& tenant) {
    return guarded(*database_, "sum artifacts up", [this, &tenant] {
        SQLite::Statement row(*database_,
                              "SELECT count(*), coalesce(sum(size), 0) FROM artifact "
                              "WHERE tenant = ?");
        row.bind(1, tenant);
        return read_totals(row);
    });
}

Result<std::vector<std::string>> Index::oldest_unpinned(std::int64_t before_ns, std::size_t limit) {
    return guarded(*database_, "list old artifacts", [this, before_ns, limit] {
        SQLite::Statement rows(*database_,
                               "SELECT id FROM artifact WHERE pinned = 0 AND created_at_ns < ? "
                               "ORDER BY created_at_ns, id LIMIT ?");
        rows.bind(1, before_ns);
        rows.bind(2, limit_of(limit));
        return read_ids(rows);
    });
}

Result<std::vector<std::string>> Index::ids_of_sandbox(const std::string& sandbox_id,
                                                       std::size_t limit) {
    return guarded(*database_, "list a sandbox's artifacts", [this, &sandbox_id, limit] {
        SQLite::Statement rows(*database_, "SELECT id FROM artifact WHERE sandbox_id = ? LIMIT ?");
        rows.bind(1, sandbox_id);
        rows.bind(2, limit_of(limit));
        return read_ids(rows);
    });
}

Result<std::vector<std::pair<std::string, std::string>>> Index::contents_after(
    const std::string& id, std::size_t limit) {
    return guarded(*database_, "walk the artifacts", [this, &id, limit] {
        SQLite::Statement rows(*database_,
                               "SELECT id, sha256 FROM artifact WHERE id > ? ORDER BY id LIMIT ?");
        rows.bind(1, id);
        rows.bind(2, limit_of(limit));
        std::vector<std::pair<std::string, std::string>> pairs;
        while (rows.executeStep()) {
            pairs.emplace_back(rows.getColumn(0).getString(), rows.getColumn(1).getString());
        }
        return pairs;
    });
}

}  // namespace cellblock::artifacts
