#include "vm/image/image.h"

#include <doctest/doctest.h>

#include <fstream>
#include <optional>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>

#include "tests/unit/temporary_folder.h"

using namespace cellblock;
using namespace cellblock::vm;
namespace fs = std::filesystem;
namespace asio = boost::asio;

namespace {

const std::string key(64, 'a');
const std::string name = "base-aaaaaaaaaaaa";

// A folder of images, and programs that stand in for build-image.
class Images {
  public:
    std::string description(const std::string& changed_field = "",
                            const std::string& value = "") const {
        std::map<std::string, std::string> fields = {
            {"format", "1"},
            {"recipe", "\"base\""},
            {"key", "\"" + key + "\""},
            {"instead_of", "\"science\""},
            {"kernel_release", "\"6.12.1\""},
            {"python", "\"3.13.5\""},
            {"debian", R"({"suite":"trixie","version":"13.2"})"},
            {"packages", R"({"bash":"5.2"})"},
            {"wheels", "{}"},
            {"kernelspecs",
             R"({"xpython":{"argv":["x","-f","{connection_file}"],"display_name":"X",)"
             R"("language":"python","interrupt_mode":"message","env":{"A":"1"},"metadata":{}}})"},
            {"files", R"({"vmlinuz":{"size":3,"sha256":")" + key +
                          R"("},"initramfs-base.img":{"size":3,"sha256":")" + key +
                          R"("},"root.erofs":{"size":3,"sha256":")" + key + R"("}})"}};
        if (!changed_field.empty()) fields[changed_field] = value;
        std::string out;
        for (const auto& [field, text] : fields) {
            out += (out.empty() ? "{\"" : ",\"") + field + "\":" + text;
        }
        return out + "}";
    }

    void add(const std::string& folder, const std::string& json) const {
        fs::create_directories(path / folder);
        std::ofstream(path / folder / "image.json") << json;
        for (const char* file : {"vmlinuz", "initramfs-base.img", "root.erofs"}) {
            std::ofstream(path / folder / file) << "abc";
        }
    }

    fs::path builder(const std::string& script) const {
        const fs::path program = path / "build-image";
        std::ofstream(program) << "#!/bin/sh\n" << script;
        fs::permissions(program, fs::perms::owner_all);
        return program;
    }

    TemporaryFolder folder_;
    const fs::path& path = folder_.path();
};

Result<Image> build(ImageBuild options) {
    asio::io_context loop;
    std::optional<Result<Image>> result;
    asio::co_spawn(loop, build_image(std::move(options)),
                   [&result](std::exception_ptr error, Result<Image> value) {
                       if (error) std::rethrow_exception(error);
                       result.emplace(std::move(value));
                   });
    loop.run();
    return std::move(*result);
}

}  // namespace

TEST_CASE("an image is read with what it was made from") {
    const Images images;
    images.add(name, images.description());
    const auto image = read_image(images.path / name);
    REQUIRE(image.has_value());
    CHECK(image->name() == name);
    CHECK(image->instead_of == "science");
    CHECK(image->debian_version == "13.2");
    CHECK(image->packages.at("bash") == "5.2");
    CHECK(image->bytes() == 9);
    CHECK(image->root() == images.path / name / "root.erofs");
    REQUIRE(image->kernelspecs.size() == 1);
    const ImageKernelspec& spec = image->kernelspecs.at("xpython");
    CHECK(spec.argv == std::vector<std::string>{"x", "-f", "{connection_file}"});
    CHECK(spec.interrupt_mode == "message");
    CHECK(spec.environment.at("A") == "1");
}

TEST_CASE("a broken image is refused with its folder and what is wrong") {
    const Images images;
    const auto refused = [&](const std::string& field, const std::string& value) {
        images.add(name, images.description(field, value));
        const auto image = read_image(images.path / name);
        return !image && image.error().cause.find(name) != std::string::npos &&
               !image.error().advice.empty();
    };
    CHECK(refused("format", "2"));
    CHECK(refused("key", "\"../../etc\""));
    CHECK(refused("key", "\"" + std::string(64, 'b') + "\""));  // not the folder's
    CHECK(refused("recipe", "7"));
    CHECK(refused("packages", "[]"));
    CHECK(refused("wheels", R"({"numpy":2})"));
    CHECK(refused("files", R"({"vmlinuz":{"size":4,"sha256":"x"}})"));
    CHECK(refused("files", "null"));
    CHECK(refused("kernelspecs", "[]"));
    CHECK(refused("kernelspecs", R"({"x":{"display_name":"X","language":"x"}})"));
    CHECK(refused("kernelspecs", R"({"x":{"argv":[1],"display_name":"X","language":"x"}})"));
    images.add(name, "{");
    CHECK_FALSE(read_image(images.path / name).has_value());
    images.add(name, images.description());
    fs::remove(images.path / name / "vmlinuz");
    CHECK_FALSE(read_image(images.path / name).has_value());
}

TEST_CASE("listing skips what is no image; no folder means no images") {
    const Images images;
    CHECK(list_images(images.path / "nowhere").value().empty());
    images.add(name, images.description());
    images.add(".building-base-1", images.description());
    images.add("base-bbbbbbbbbbbb", "not json");
    std::ofstream(images.path / "base-build.log") << "text";
    const auto list = list_images(images.path);
    REQUIRE(list.has_value());
    REQUIRE(list->size() == 1);
    CHECK(list->front().name() == name);
}

TEST_CASE("the key comes from the builder, and an image is found by it") {
    const Images images;
    const auto builder = images.builder("echo " + key + "\n");
    CHECK(image_key(builder, "base").value() == key);
    CHECK(find_image(builder, images.path, "base").error().code == ErrorCode::not_found);
    images.add(name, images.description());
    CHECK(find_image(builder, images.path, "base").value().key == key);
    // What was built because science could not be is found under that name too.
    CHECK(find_image(builder, images.path, "science").value().recipe == "base");
    images.add(name, images.description("instead_of", "null"));
    CHECK_FALSE(find_image(builder, images.path, "science").has_value());
    CHECK_FALSE(image_key(images.builder("echo nonsense\n"), "base").has_value());
    CHECK_FALSE(image_key(images.builder("exit 2\n"), "base").has_value());
}

TEST_CASE("the real builder knows the key of every recipe") {
    const auto science = image_key(default_image_builder(), "science");
    const auto base = image_key(default_image_builder(), "base");
    REQUIRE(science.has_value());
    REQUIRE(base.has_value());
    CHECK(*science != *base);
    CHECK_FALSE(image_key(default_image_builder(), "nonsense").has_value());
}

TEST_CASE("a build tells its progress and its notices, and returns the image") {
    const Images images;
    images.add(name, images.description());
    ImageBuild options;
    options.images = images.path;
    options.builder = images.builder(
        "echo 'progress 0.250 packages: installing: bash (3 s)'\n"
        "echo 'progress nonsense'\necho 'progress 7 a: b'\necho noise\n"
        "echo 'notice building recipe base instead'\necho \"image $4/" +
        name + "\"\n");
    std::vector<Progress> seen;
    std::string notice;
    options.progress = [&](const Progress& progress) { seen.push_back(progress); };
    options.notice = [&](const std::string& text) { notice = text; };
    const auto image = build(options);
    REQUIRE(image.has_value());
    CHECK(image->name() == name);
    REQUIRE(seen.size() == 1);
    CHECK(seen[0].fraction == doctest::Approx(0.25));
    CHECK(seen[0].step == "packages");
    CHECK(seen[0].detail == "installing: bash (3 s)");
    CHECK(notice == "building recipe base instead");
}

TEST_CASE("a build that fails says why") {
    const Images images;
    ImageBuild options;
    options.images = images.path;
    options.builder = images.builder("echo 'error no disk left'\nexit 1\n");
    CHECK(build(options).error().cause == "no disk left");
    options.builder = images.builder("exit 3\n");
    CHECK(build(options).error().cause.find("exit code 3") != std::string::npos);
    options.builder = images.builder("head -c 200000 /dev/zero\nexit 4\n");
    CHECK_FALSE(build(options).has_value());
    options.builder = images.path / "nowhere";
    CHECK_FALSE(build(options).has_value());
}
