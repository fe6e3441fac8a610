// The SQLite index of the artifact store: one row per artifact.
//
// Owner: the store, which serialises all calls (one connection, no thread of its own). Exceptions
// of SQLiteCpp end here; a full disk becomes disk_full. Every change is durable when it returns.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "artifacts/artifact.h"
#include "base/error.h"

namespace SQLite {
class Database;
}

namespace cellblock::artifacts {

struct ListQuery;

struct Totals {
    std::uint64_t count = 0;
    std::uint64_t bytes = 0;
};

class Index {
  public:
    // Makes or migrates the schema. not_supported when a newer version wrote it.
    static Result<std::unique_ptr<Index>> open(const std::filesystem::path& file);
    ~Index();

    Result<void> insert(const Artifact& artifact);
    Result<std::optional<Artifact>> find(const std::string& id);
    Result<std::vector<Artifact>> list(const ListQuery& query);
    // What was removed; nullopt when there was no such row.
    Result<std::optional<Artifact>> erase(const std::string& id);
    // False when there is no such row.
    Result<bool> set_pinned(const std::string& id, bool pinned);

    Result<bool> references(const std::string& sha256);
    Result<Totals> totals();
    Result<std::uint64_t> distinct_contents();
    Result<Totals> totals_of_execution(const std::string& execution_id);
    Result<Totals> totals_of_tenant(const std::string& tenant);
    // Ids of unpinned artifacts created before the moment, oldest first.
    Result<std::vector<std::string>> oldest_unpinned(std::int64_t before_ns, std::size_t limit);
    Result<std::vector<std::string>> ids_of_sandbox(const std::string& sandbox_id,
                                                    std::size_t limit);
    // (id, sha256) pairs after an id, in id order: a walk in steps.
    Result<std::vector<std::pair<std::string, std::string>>> contents_after(const std::string& id,
                                                                            std::size_t limit);

  private:
    explicit Index(std::unique_ptr<SQLite::Database> database);
    std::unique_ptr<SQLite::Database> database_;
};

}  // namespace cellblock::artifacts
