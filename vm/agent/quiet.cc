#include "vm/agent/quiet.h"

#include <fcntl.h>
#include <sys/io.h>

#include <array>
#include <cerrno>

#include "base/files.h"

namespace cellblock::vm::agent {
namespace {

struct Knob {
    const char* name;
    const char* value;
};
constexpr std::array<Knob, 2> knobs = {{
    {"vm/stat_interval", "60"},            // folds counters of CPUs together: there is one
    {"vm/compaction_proactiveness", "0"},  // kcompactd looks twice a second whether it should
}};

// Intel 8254 data sheet: counter 0, low and high byte, mode 0 (counts down once and stops).
constexpr unsigned short pit_counter_0 = 0x40;
constexpr unsigned short pit_control = 0x43;
constexpr unsigned long pit_ports = 4;
constexpr unsigned char counter_0_once = 0x30;

}  // namespace

Result<void> quiet_kernel(const std::filesystem::path& sys) {
    for (const Knob& knob : knobs) {
        const auto file = open_file(sys / knob.name, O_WRONLY);
        if (!file && file.error().code == ErrorCode::not_found) continue;
        if (!file) return fail(file.error());
        CB_TRY(write_all(file->get(), knob.value));
    }
    return {};
}

Result<void> stop_unused_pit(const std::filesystem::path& current_clock_event) {
    CB_TRY_ASSIGN(device, read_file(current_clock_event, 64));
    if (!device.starts_with("lapic")) return {};
    if (::ioperm(pit_counter_0, pit_ports, 1) != 0) {
        return fail(error_from_errno(errno, "reach the PIT's ports"));
    }
    ::outb(counter_0_once, pit_control);
    ::outb(0, pit_counter_0);
    ::outb(0, pit_counter_0);
    (void)::ioperm(pit_counter_0, pit_ports, 0);
    return {};
}

}  // namespace cellblock::vm::agent
