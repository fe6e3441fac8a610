#include "vm/snapshot/template.h"

namespace cellblock::vm {

Json to_json(const TemplateManifest& manifest) {
    return {{"version", 1},
            {"key", manifest.key},
            {"inputs", manifest.inputs},
            {"image_name", manifest.image_name},
            {"image_folder", manifest.image_folder.string()},
            {"accelerator", to_string(manifest.hardware.accelerator)},
            {"ram_bytes", manifest.hardware.ram_bytes},
            {"tsc_khz", manifest.hardware.tsc_khz},
            {"extra_kernel_arguments", manifest.hardware.extra_kernel_arguments},
            {"ram_data_bytes", manifest.ram.data_bytes},
            {"ram_sha256", manifest.ram.sha256},
            {"devices_bytes", manifest.devices_bytes},
            {"devices_sha256", manifest.devices_sha256},
            {"created_at_ns", manifest.created_at_ns},
            {"build_ms", manifest.build_ms},
            {"attempts", manifest.attempts}};
}

Result<TemplateManifest> template_manifest_from(const Json& json) {
    if (!json.is_object())
        return fail(ErrorCode::invalid_argument, "a template manifest is no object");
    TemplateManifest manifest;
    CB_TRY_ASSIGN(version, required_integer(json, "version"));
    if (version != 1)
        return fail(ErrorCode::not_supported, "a template manifest of another version");
    CB_TRY_ASSIGN(key, required_string(json, "key"));
    CB_TRY_ASSIGN(image_name, required_string(json, "image_name"));
    CB_TRY_ASSIGN(image_folder, required_string(json, "image_folder"));
    CB_TRY_ASSIGN(accelerator, required_string(json, "accelerator"));
    CB_TRY_ASSIGN(ram_bytes, required_integer(json, "ram_bytes"));
    CB_TRY_ASSIGN(tsc_khz, required_integer(json, "tsc_khz"));
    CB_TRY_ASSIGN(extra, required_string(json, "extra_kernel_arguments"));
    CB_TRY_ASSIGN(data_bytes, required_integer(json, "ram_data_bytes"));
    CB_TRY_ASSIGN(ram_sha256, required_string(json, "ram_sha256"));
    CB_TRY_ASSIGN(devices_bytes, required_integer(json, "devices_bytes"));
    CB_TRY_ASSIGN(devices_sha256, required_string(json, "devices_sha256"));
    CB_TRY_ASSIGN(created, required_integer(json, "created_at_ns"));
    CB_TRY_ASSIGN(build_ms, required_integer(json, "build_ms"));
    CB_TRY_ASSIGN(attempts, required_integer(json, "attempts"));
    const auto inputs = json.find("inputs");
    if (inputs == json.end() || !inputs->is_object()) {
        return fail(ErrorCode::invalid_argument, "a template manifest has no inputs");
    }
    for (const auto& [name, value] : inputs->items()) {
        if (!value.is_string()) {
            return fail(ErrorCode::invalid_argument, "a template's input " + name + " is no text");
        }
        manifest.inputs[name] = value.get<std::string>();
    }
    if (key != template_key(manifest.inputs) || ram_bytes <= 0 || data_bytes < 0 ||
        devices_bytes <= 0 || tsc_khz < 0) {
        return fail(ErrorCode::invalid_argument, "a template manifest contradicts itself");
    }
    manifest.key = std::move(key);
    manifest.image_name = std::move(image_name);
    manifest.image_folder = std::move(image_folder);
    manifest.hardware.accelerator =
        accelerator == "kvm" ? AcceleratorKind::kvm : AcceleratorKind::tcg;
    manifest.hardware.ram_bytes = static_cast<std::uint64_t>(ram_bytes);
    manifest.hardware.tsc_khz = static_cast<std::uint32_t>(tsc_khz);
    manifest.hardware.extra_kernel_arguments = std::move(extra);
    manifest.ram.data_bytes = static_cast<std::uint64_t>(data_bytes);
    manifest.ram.sha256 = std::move(ram_sha256);
    manifest.devices_bytes = static_cast<std::uint64_t>(devices_bytes);
    manifest.devices_sha256 = std::move(devices_sha256);
    manifest.created_at_ns = created;
    manifest.build_ms = build_ms;
    manifest.attempts = static_cast<int>(attempts);
    return manifest;
}

}  // namespace cellblock::vm
