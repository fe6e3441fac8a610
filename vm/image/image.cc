#include "vm/image/image.h"

#include <algorithm>
#include <chrono>
#include <system_error>

#include "base/files.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/process.h"

namespace cellblock::vm {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t supported_format = 1;
constexpr std::size_t key_digits = 64;

bool is_hex(std::string_view text, std::size_t digits) {
    return text.size() == digits &&
           text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

Error broken(const fs::path& folder, const std::string& why) {
    return {ErrorCode::invalid_argument, "the image " + folder.string() + " is not usable: " + why,
            "remove the folder and build it again: cellblock image build"};
}

// {"name": "version", ...}
Result<std::map<std::string, std::string>> read_versions(const Json& json, std::string_view field) {
    std::map<std::string, std::string> out;
    const auto table = json.find(field);
    if (table == json.end() || !table->is_object()) {
        return fail(ErrorCode::invalid_argument, std::string(field) + " is not an object");
    }
    for (const auto& [name, version] : table->items()) {
        if (!version.is_string()) {
            return fail(ErrorCode::invalid_argument, std::string(field) + " holds a non-string");
        }
        out.emplace(name, version.get<std::string>());
    }
    return out;
}

Result<std::map<std::string, ImageFile>> read_files(const Json& json, const fs::path& folder) {
    std::map<std::string, ImageFile> out;
    for (const char* name : {"vmlinuz", "initramfs-base.img", "root.erofs"}) {
        const auto files = json.find("files");
        if (files == json.end() || !files->is_object() || !files->contains(name)) {
            return fail(ErrorCode::invalid_argument, std::string("files does not name ") + name);
        }
        CB_TRY_ASSIGN(size, required_integer(files->at(name), "size"));
        CB_TRY_ASSIGN(sha256, required_string(files->at(name), "sha256"));
        std::error_code error;
        const auto actual = fs::file_size(folder / name, error);
        if (error || size < 0 || actual != static_cast<std::uint64_t>(size)) {
            return fail(
                ErrorCode::invalid_argument,
                std::string(name) + " is missing or has another size than it was built with");
        }
        if (!is_hex(sha256, key_digits)) {
            return fail(ErrorCode::invalid_argument, "a sha256 is not 64 hex digits");
        }
        out.emplace(name, ImageFile{actual, sha256});
    }
    return out;
}

Result<ImageKernelspec> read_kernelspec(const Json& json) {
    ImageKernelspec spec;
    const auto argv = json.find("argv");
    if (argv == json.end() || !argv->is_array() || argv->empty()) {
        return fail(ErrorCode::invalid_argument, "a kernelspec has no argv");
    }
    for (const Json& word : *argv) {
        if (!word.is_string())
            return fail(ErrorCode::invalid_argument, "a kernelspec's argv is not text");
        spec.argv.push_back(word.get<std::string>());
    }
    CB_TRY_ASSIGN(display_name, required_string(json, "display_name"));
    CB_TRY_ASSIGN(language, required_string(json, "language"));
    CB_TRY_ASSIGN(interrupt_mode, optional_string(json, "interrupt_mode"));
    spec.display_name = std::move(display_name);
    spec.language = std::move(language);
    spec.interrupt_mode = interrupt_mode.value_or("signal");
    if (json.contains("env")) {
        CB_TRY_ASSIGN(environment, read_versions(json, "env"));
        spec.environment = std::move(environment);
    }
    return spec;
}

Result<std::map<std::string, ImageKernelspec>> read_kernelspecs(const Json& json) {
    std::map<std::string, ImageKernelspec> specs;
    const auto table = json.find("kernelspecs");
    if (table == json.end()) return specs;
    if (!table->is_object())
        return fail(ErrorCode::invalid_argument, "kernelspecs is not an object");
    for (const auto& [name, value] : table->items()) {
        if (!value.is_object())
            return fail(ErrorCode::invalid_argument, "a kernelspec is not an object");
        CB_TRY_ASSIGN(spec, read_kernelspec(value));
        specs.emplace(name, std::move(spec));
    }
    return specs;
}

Result<Image> parse_image(const Json& json, const fs::path& folder) {
    Image image;
    image.folder = folder;
    CB_TRY_ASSIGN(format, required_integer(json, "format"));
    if (format != supported_format) {
        return fail(ErrorCode::not_supported, "its format is " + std::to_string(format));
    }
    CB_TRY_ASSIGN(recipe, required_string(json, "recipe"));
    CB_TRY_ASSIGN(key, required_string(json, "key"));
    CB_TRY_ASSIGN(instead_of, optional_string(json, "instead_of"));
    CB_TRY_ASSIGN(kernel_release, required_string(json, "kernel_release"));
    CB_TRY_ASSIGN(python_version, required_string(json, "python"));
    CB_TRY_ASSIGN(packages, read_versions(json, "packages"));
    CB_TRY_ASSIGN(wheels, read_versions(json, "wheels"));
    CB_TRY_ASSIGN(files, read_files(json, folder));
    CB_TRY_ASSIGN(debian, read_versions(json, "debian"));
    CB_TRY_ASSIGN(kernelspecs, read_kernelspecs(json));
    if (!is_hex(key, key_digits)) return fail(ErrorCode::invalid_argument, "its key is malformed");
    image.recipe = std::move(recipe);
    image.key = std::move(key);
    image.instead_of = instead_of.value_or("");
    image.kernel_release = std::move(kernel_release);
    image.debian_version = debian["version"];
    image.python_version = std::move(python_version);
    image.packages = std::move(packages);
    image.wheels = std::move(wheels);
    image.files = std::move(files);
    image.kernelspecs = std::move(kernelspecs);
    return image;
}

}  // namespace

std::uint64_t Image::bytes() const {
    std::uint64_t sum = 0;
    for (const auto& [name, file] : files) sum += file.bytes;
    return sum;
}

Result<Image> read_image(const fs::path& folder) {
    CB_TRY_ASSIGN(text, read_file(folder / "image.json", limits::image_description_max_bytes));
    auto json = parse_json(text, {limits::image_description_max_bytes, 8}, "image.json");
    if (!json) return fail(broken(folder, json.error().cause));
    auto image = parse_image(*json, folder);
    if (!image) return fail(broken(folder, image.error().cause));
    if (folder.filename() != image->name()) {
        return fail(broken(folder, "its folder should be called " + image->name()));
    }
    return image;
}

Result<std::vector<Image>> list_images(const fs::path& images) {
    std::vector<Image> out;
    std::error_code error;
    for (fs::directory_iterator it(images, error), end; !error && it != end; it.increment(error)) {
        if (it->path().filename().string().starts_with('.')) continue;
        auto image = read_image(it->path());
        if (image) out.push_back(std::move(*image));
    }
    if (error && error != std::errc::no_such_file_or_directory) {
        return fail(error_from_errno(error.value(), "read the folder " + images.string()));
    }
    std::ranges::sort(out, {}, &Image::name);
    return out;
}

fs::path default_image_builder() {
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    fs::path installed = program.parent_path().parent_path() / "share/cellblock/image/build-image";
    if (!error && fs::exists(installed, error)) return installed;
    return fs::path(CELLBLOCK_IMAGE_SOURCES) / "build-image";
}

Result<std::string> image_key(const fs::path& builder, std::string_view recipe) {
    const std::vector<std::string> command = {builder.string(), "--recipe", std::string(recipe),
                                              "--print-key"};
    CB_TRY_ASSIGN(output, run_command(command, limits::KiB, limits::image_key_timeout));
    std::string key = output.standard_output.substr(0, output.standard_output.find('\n'));
    if (!output.status.success() || !is_hex(key, key_digits)) {
        return fail(ErrorCode::invalid_argument,
                    "there is no key for the image recipe \"" + std::string(recipe) +
                        "\": " + output.standard_error.substr(0, 500),
                    "the recipes are science and base");
    }
    return key;
}

Result<Image> find_image(const fs::path& builder, const fs::path& images, std::string_view recipe) {
    for (const std::string_view candidate : {recipe, std::string_view("base")}) {
        CB_TRY_ASSIGN(key, image_key(builder, candidate));
        const fs::path folder = images / (std::string(candidate) + "-" + key.substr(0, 12));
        std::error_code error;
        if (!fs::exists(folder / "image.json", error)) continue;
        CB_TRY_ASSIGN(image, read_image(folder));
        if (image.recipe == recipe || image.instead_of == recipe) return image;
    }
    return fail(ErrorCode::not_found,
                "the guest image of recipe " + std::string(recipe) + " is not built yet",
                "build it: cellblock image build --recipe " + std::string(recipe));
}

}  // namespace cellblock::vm
