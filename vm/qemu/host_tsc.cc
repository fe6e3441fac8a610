#include <poll.h>
#include <time.h>
#include <x86intrin.h>

#include <cmath>

#include "base/files.h"
#include "base/json.h"
#include "base/limits.h"
#include "vm/qemu/accelerator.h"

namespace cellblock::vm {
namespace {

constexpr double tolerance = 200e-6;

struct Moment {
    std::int64_t nanoseconds = 0;
    std::uint64_t ticks = 0;
};

std::int64_t raw_time_ns() {
    timespec now{};
    ::clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

// Both clocks at once: of some tries the one with the least between its two looks at the TSC.
Moment now() {
    Moment best;
    std::uint64_t best_gap = UINT64_MAX;
    for (int i = 0; i < 50; ++i) {
        const std::uint64_t before = __rdtsc();
        const std::int64_t time = raw_time_ns();
        const std::uint64_t after = __rdtsc();
        if (after - before < best_gap) {
            best_gap = after - before;
            best.nanoseconds = time;
            best.ticks = before + (after - before) / 2;
        }
    }
    return best;
}

double measure_khz() {
    const Moment begin = now();
    ::poll(nullptr, 0, 50);
    const Moment end = now();
    return static_cast<double>(end.ticks - begin.ticks) * 1e6 /
           static_cast<double>(end.nanoseconds - begin.nanoseconds);
}

}  // namespace

std::uint32_t host_tsc_khz(const std::filesystem::path& cache_folder) {
    const double measured = measure_khz();
    const auto file = cache_folder / "host-tsc.json";
    if (const auto text = read_file(file, 4096)) {
        const auto json = parse_json(*text, JsonLimits{4096}, "the host's TSC rate");
        const auto kept = json && json->is_object() ? optional_integer(*json, "tsc_khz")
                                                    : Result<std::optional<std::int64_t>>();
        if (kept && kept->has_value() &&
            std::abs(static_cast<double>(**kept) / measured - 1) < tolerance) {
            return static_cast<std::uint32_t>(**kept);
        }
    }
    const auto khz = static_cast<std::uint32_t>(std::lround(measured));
    const Json json = {{"tsc_khz", khz}};
    if (make_directories(cache_folder)) (void)write_file_atomically(file, dump_ascii(json) + "\n");
    return khz;
}

}  // namespace cellblock::vm
