#include "vm/snapshot/template.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/files.h"
#include "tests/unit/temporary_folder.h"
#include "tests/unit/vm/run_loop.h"

using namespace cellblock;
using namespace cellblock::vm;
namespace asio = boost::asio;
namespace fs = std::filesystem;

namespace {

TemplateRecipe make_recipe(const fs::path& image) {
    fs::create_directories(image);
    for (const char* name : {"vmlinuz", "initramfs-base.img", "root.erofs", "image.json"}) {
        REQUIRE(write_file_atomically(image / name, name).has_value());
    }
    TemplateRecipe recipe;
    recipe.image_name = "base";
    recipe.image_folder = image;
    recipe.guest_files = "cpio";
    recipe.hardware.tsc_khz = 2100000;
    recipe.hardware.ram_bytes = 1 << 20;
    recipe.qemu_build = "QEMU emulator version 7.2";
    return recipe;
}

std::string key_of(const TemplateRecipe& recipe) {
    return template_key(template_key_inputs(recipe).value());
}

// What a build leaves on disk, with one page of RAM.
TemplateManifest put_template(const fs::path& cache, const TemplateRecipe& recipe) {
    TemplateManifest manifest;
    manifest.inputs = template_key_inputs(recipe).value();
    manifest.key = template_key(manifest.inputs);
    manifest.image_name = recipe.image_name;
    manifest.image_folder = recipe.image_folder;
    manifest.hardware = recipe.hardware;
    const fs::path folder = cache / "templates" / short_key(manifest.key);
    fs::create_directories(folder);
    const auto ram = open_file(folder / "ram", O_RDWR | O_CREAT);
    REQUIRE(::ftruncate(ram->get(), 1 << 20) == 0);
    REQUIRE(::pwrite(ram->get(), "data", 4, 8192) == 4);
    manifest.ram = copy_ram(ram->get(), -1).value();
    REQUIRE(write_file_atomically(folder / "devices", "state"));
    manifest.devices_bytes = 5;
    manifest.devices_sha256 = sha256_hex("state");
    manifest.created_at_ns = 5;
    REQUIRE(write_file_atomically(folder / "manifest.json", to_json(manifest).dump()));
    return manifest;
}

struct TemplateFixture {
    TemporaryFolder cache;
    asio::io_context loop;
    WorkerPool workers;  // joined before the loop dies
    TemplateRecipe recipe = make_recipe(cache.path() / "image");
    TemplateStore store{cache.path(), std::make_shared<QemuHost>(), workers};

    auto open() { return run_on(loop, store.open(recipe)); }
};

}  // namespace

TEST_CASE("the key depends on all that a template depends on") {
    const TemporaryFolder folder;
    const TemplateRecipe recipe = make_recipe(folder.path());
    const std::string key = key_of(recipe);
    CHECK(key.size() == 64);
    CHECK(key == key_of(recipe));

    TemplateRecipe other = recipe;
    other.guest_files = "another agent";
    CHECK(key_of(other) != key);
    other = recipe;
    other.hardware.tsc_khz = 2100001;
    CHECK(key_of(other) != key);
    other = recipe;
    other.hardware.accelerator = AcceleratorKind::kvm;
    CHECK(key_of(other) != key);
    other = recipe;
    other.hardware.extra_kernel_arguments = "cellblock.disk_mib=1";
    CHECK(key_of(other) != key);
    other = recipe;
    other.qemu_build = "QEMU emulator version 10.0";
    CHECK(key_of(other) != key);
    for (const char* name : {"vmlinuz", "initramfs-base.img", "root.erofs", "image.json"}) {
        REQUIRE(write_file_atomically(folder.path() / name, "changed"));
        CHECK_MESSAGE(key_of(recipe) != key, name);
        REQUIRE(write_file_atomically(folder.path() / name, name));
    }
    CHECK(key_of(recipe) == key);
    // What people call it does not matter.
    other = recipe;
    other.image_name = "another";
    CHECK(key_of(other) == key);
}

TEST_CASE("a missing image file is told, with what to do") {
    const TemporaryFolder folder;
    const TemplateRecipe recipe = make_recipe(folder.path());
    fs::remove(folder.path() / "root.erofs");
    const auto inputs = template_key_inputs(recipe);
    REQUIRE_FALSE(inputs.has_value());
    CHECK_FALSE(inputs.error().advice.empty());
}

TEST_CASE("the difference of two keys has names") {
    const KeyInputs a = {{"host_kernel", "1"}, {"tsc_khz", "2"}, {"same", "3"}};
    const KeyInputs b = {{"host_kernel", "9"}, {"same", "3"}, {"new", "4"}};
    CHECK(key_difference(a, b) == "host_kernel, new, tsc_khz");
    CHECK(key_difference(a, a).empty());
}

TEST_CASE("a template is loaded once, sealed, and shared") {
    TemplateFixture f;
    put_template(f.cache.path(), f.recipe);
    const auto first = f.open();
    REQUIRE_MESSAGE(first.has_value(), first.error().text());
    const int ram = (*first)->clone_source().ram->get();
    CHECK(::pwrite(ram, "x", 1, 0) == -1);
    char data[4];
    CHECK(::pread(ram, data, 4, 8192) == 4);
    CHECK(std::string(data, 4) == "data");
    const auto second = f.open();
    CHECK(second->get() == first->get());
}

TEST_CASE("a template that is not there is not_found and says how to build it") {
    TemplateFixture f;
    const auto opened = f.open();
    CHECK(opened.error().code == ErrorCode::not_found);
    CHECK(opened.error().advice.find("template build") != std::string::npos);
}

TEST_CASE("a damaged template is refused, whichever part is damaged") {
    for (const char* part : {"ram", "devices", "manifest.json"}) {
        TemplateFixture f;
        const TemplateManifest manifest = put_template(f.cache.path(), f.recipe);
        const fs::path folder = f.cache.path() / "templates" / short_key(manifest.key);
        if (std::string(part) == "ram") {
            const auto ram = open_file(folder / "ram", O_RDWR);
            REQUIRE(::pwrite(ram->get(), "D", 1, 8192) == 1);
        } else {
            REQUIRE(write_file_atomically(folder / part, "{}"));
        }
        CHECK_MESSAGE(!f.open().has_value(), part);
    }
}

TEST_CASE("a manifest under a key that its inputs do not have is refused") {
    TemplateFixture f;
    TemplateManifest manifest = put_template(f.cache.path(), f.recipe);
    manifest.inputs["host_kernel"] = "another";
    const fs::path folder = f.cache.path() / "templates" / short_key(manifest.key);
    REQUIRE(write_file_atomically(folder / "manifest.json", to_json(manifest).dump()));
    CHECK_FALSE(f.open().has_value());
    CHECK(f.store.list()->empty());
}

TEST_CASE("templates are listed, removed by prefix, and pruned by use; open ones live on") {
    TemplateFixture f;
    const TemplateManifest kept = put_template(f.cache.path(), f.recipe);
    const auto opened = f.open();
    REQUIRE(opened.has_value());
    TemplateRecipe other = f.recipe;
    other.guest_files = "older agent";
    const TemplateManifest old = put_template(f.cache.path(), other);
    CHECK(f.store.list()->size() == 2);
    CHECK_FALSE(run_on(f.loop, f.store.remove(old.key.substr(0, 3))).has_value());
    CHECK_FALSE(run_on(f.loop, f.store.remove("ffffffffffff")).has_value());
    const fs::path manifest = f.cache.path() / "templates" / short_key(old.key) / "manifest.json";
    fs::last_write_time(manifest, fs::file_time_type::clock::now() - std::chrono::hours(1));
    CHECK(run_on(f.loop, f.store.keep_last_used(2))->empty());
    const auto removed = run_on(f.loop, f.store.keep_last_used(1));
    REQUIRE(removed.has_value());
    CHECK(*removed == std::vector<std::string>{old.key});
    REQUIRE(f.store.list()->size() == 1);
    CHECK(*run_on(f.loop, f.store.remove(kept.key.substr(0, 8))) == kept.key);
    CHECK(f.store.list()->empty());
    char data[4];
    CHECK(::pread((*opened)->clone_source().ram->get(), data, 4, 8192) == 4);
}
