#include "gateway/jupyter/kernelspecs.h"

#include "base/base64.h"
#include "gateway/http/headers.h"

namespace cellblock::gateway::jupyter {
namespace {

// A cell in a block. The PNGs are this drawing at 32 and 64 pixels.
constexpr std::string_view logo_svg =
    R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64">)"
    R"(<rect x="4" y="4" width="56" height="56" rx="12" fill="#264653"/>)"
    R"(<rect x="14" y="14" width="36" height="36" rx="6" fill="#2a9d8f"/>)"
    R"(<path d="M26 23 42 32 26 41z" fill="#fff"/></svg>)";
constexpr std::string_view logo_32 =
    "iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAMAAABEpIrGAAAAYFBMVEUmRlMpnI4AAAArSkwmRlT5/PwmUls0pJYA"
    "f38mRlMcloc/Pz8oeXYlRVQmRlMAAH8phX5Gqp5as6hxvbSZ0Mq03NfU6+gfP18AVVUnOk4zM2Y4VVUzZmaAxLyG"
    "x8AAAAAdj+5CAAAAIHRSTlP8/wARJ////wLP/wT/cpIC/////////wgDDQUJBf//AKKl64QAAADTSURBVHjajZTZ"
    "EoMgDEUhgCDgUm3t3v//zKaAtspizwOj5MwoJlcCH0wHMcatJNyxCNzsZsE0NYmomysoL7BE2SkcDQIqV0eDoWCg"
    "IVlaMERBnRfIAx/B/KWlK6zf5Ytg5VqQdiPQiF2hSghy0DuCOB10WRDiKHVZEOJJdVkQ07gjiFdZCG+RE5ZzpIVp"
    "KB9zpLr4oX7KGaHQi6jd/aab24HpvwMzj1y1Iozc/Y+hzccCYaAwF8Bzhg8OLqxNKS2Di48eJvDGI86uENJtIBV/"
    "9094AyLNCSZF2vfuAAAAAElFTkSuQmCC";
constexpr std::string_view logo_64 =
    "iVBORw0KGgoAAAANSUhEUgAAAEAAAABACAMAAACdt4HsAAAAYFBMVEWYz8kmLGwnZWhKq58AAP8oUF3f8O6AxLwm"
    "RlMpnI4AAAD8/f0Af38mRlQsSlknUlsyo5UAVVUcloc/Pz8lRVImRlMmRlMlRlJVVVUlRVIodXMpioKv2tVxvbTP"
    "6eVZsqdFiYLCAAAAIHRSTlP/Cv//ARP///7/AP8CKBH//wP/BNKNr24DSv///////1YVrSoAAAGbSURBVHja5ZfZ"
    "eoMgEIUxaVpWd1yT9P3fshjRigvIkLucW51fvsMgZxANFHongBfZmRJe8F1ANFTz2KloeI1vAapc1FWJnSorKV6v"
    "m4CMRhKfViVmggYUtMVeqicC0vU19pRURTMg8/3+uIZmAnAaY4BGHwZAQysIoKR8BHAqMAYvAYEcXPiIBgsrGKCc"
    "TMyM/rv05FB9ZxBuGmDsQZ+mxwD1LDFM4BtAbyl/IYgdcHHUK0JnBfRuALECyAklnwNI7795GICxe5qHARhDJA8D"
    "sO/HBuEHYOy5tsIXoKy45mEAZcXSTQiAsZ9/K2AA9nwEAtSOBgEWLkAAxj74A1ad4AvY9KInAIW18t559ACga9Bx"
    "fj7ywF9a/pl/ZffVRuxXWxd6uWISeL3jxE5IyWUHEBkRp7MBzIgTTzFvFbKSQ61C1hfVMU/CUlqlYx44aLY6aIKj"
    "Ludz2BbgBUxxv4YE3WY5cEh/B5vlyNP4rkFSvh66hIeTZbs/9snyVLVsd8Y+tRdDX92EU7H+3M7omxXnxuUmswzf"
    "3Kl3T+9/O/aZVbW8+UUAAAAASUVORK5CYII=";

Json resources_json(const std::string& kernel) {
    const std::string folder = "/kernelspecs/" + kernel + "/";
    return Json{{"logo-32x32", folder + "logo-32x32.png"},
                {"logo-64x64", folder + "logo-64x64.png"},
                {"logo-svg", folder + "logo-svg.svg"}};
}

Json model_of(const std::string& name, const OfferedKernel& kernel) {
    const bool by_signal = kernel.launch.interrupt_mode == kernel_proxy::InterruptMode::signal;
    // The argv runs in the guest: clients show it, and start nothing with it.
    const Json spec = {{"argv", kernel.launch.argv},
                       {"env", kernel.environment},
                       {"display_name", kernel.display_name + " (microVM)"},
                       {"language", kernel.language},
                       {"interrupt_mode", by_signal ? "signal" : "message"},
                       {"metadata", Json::object()}};
    return Json{{"name", name}, {"spec", spec}, {"resources", resources_json(name)}};
}

Json python_model() {
    OfferedKernel kernel;
    kernel.display_name = "Python 3";
    kernel.language = "python";
    kernel.launch.argv = {"python3", "-m", "cellblock_kernel.launch", "-f", "{connection_file}"};
    return model_of(std::string(default_kernel_name), kernel);
}

}  // namespace

bool is_python_kernel(std::string_view name) {
    const std::string lower = http::to_lower(name);
    return lower == "python" || lower == default_kernel_name;
}

Kernelspecs::Kernelspecs(std::map<std::string, OfferedKernel> others) : others_(std::move(others)) {
    std::erase_if(others_, [](const auto& entry) { return is_python_kernel(entry.first); });
}

std::optional<std::string> Kernelspecs::resolve(std::string_view name) const {
    if (is_python_kernel(name)) return std::string(default_kernel_name);
    std::string lower = http::to_lower(name);
    if (others_.contains(lower)) return lower;
    return std::nullopt;
}

const OfferedKernel* Kernelspecs::other(const std::string& name) const {
    const auto at = others_.find(name);
    return at == others_.end() ? nullptr : &at->second;
}

Json Kernelspecs::list(const std::string& default_name) const {
    Json specs = {{default_kernel_name, python_model()}};
    for (const auto& [name, kernel] : others_) specs[name] = model_of(name, kernel);
    return Json{{"default", default_name}, {"kernelspecs", std::move(specs)}};
}

std::optional<Json> Kernelspecs::find(std::string_view name) const {
    const auto resolved = resolve(name);
    if (!resolved) return std::nullopt;
    const OfferedKernel* kernel = other(*resolved);
    return kernel == nullptr ? python_model() : model_of(*resolved, *kernel);
}

std::optional<KernelResource> Kernelspecs::resource(std::string_view name,
                                                    std::string_view file) const {
    if (!resolve(name)) return std::nullopt;
    KernelResource resource;
    if (file == "logo-svg.svg") {
        resource.content_type = "image/svg+xml";
        resource.body = std::string(logo_svg);
        return resource;
    }
    if (file != "logo-32x32.png" && file != "logo-64x64.png") return std::nullopt;
    const auto bytes = base64_decode(file == "logo-32x32.png" ? logo_32 : logo_64);
    if (!bytes) return std::nullopt;
    resource.content_type = "image/png";
    resource.body = std::string(as_text(*bytes));
    return resource;
}

}  // namespace cellblock::gateway::jupyter
