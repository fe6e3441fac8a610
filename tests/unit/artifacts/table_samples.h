// The kept Arrow files (tests/data/tables), opened as stored tables are.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "artifacts/arrow/file.h"
#include "base/files.h"
#include "tests/unit/repository_file.h"

namespace table_samples {

// What reads and how much of it: a page must not read the whole file.
struct Counted {
    std::string content;
    std::uint64_t read_bytes = 0;
};

inline cellblock::artifacts::arrow::ReadAt reader_of(std::shared_ptr<Counted> file) {
    return [file](std::uint64_t offset, std::span<std::byte> into) -> cellblock::Result<void> {
        REQUIRE(offset <= file->content.size());
        REQUIRE(into.size() <= file->content.size() - offset);
        std::memcpy(into.data(), file->content.data() + offset, into.size());
        file->read_bytes += into.size();
        return {};
    };
}

inline std::shared_ptr<Counted> load(const std::string& name) {
    const std::string path = cellblock::repository_file("tests/data/tables/" + name + ".arrow");
    auto text = cellblock::read_file(path, 1 << 20);
    REQUIRE_MESSAGE(text.has_value(), path);
    auto file = std::make_shared<Counted>();
    file->content = std::move(*text);
    return file;
}

inline cellblock::artifacts::arrow::ArrowFile open(const std::shared_ptr<Counted>& file) {
    auto opened =
        cellblock::artifacts::arrow::ArrowFile::open(reader_of(file), file->content.size());
    REQUIRE_MESSAGE(opened.has_value(), opened.error().text());
    return std::move(*opened);
}

inline cellblock::artifacts::arrow::ArrowFile open(const std::string& name) {
    return open(load(name));
}

}  // namespace table_samples
