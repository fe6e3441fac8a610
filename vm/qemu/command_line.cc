#include "vm/qemu/command_line.h"

namespace cellblock::vm {
namespace {

std::string inherited(int fd) {
    return "/proc/self/fd/" + std::to_string(fd);
}

std::string socket_option(const std::string& id, int fd) {
    return "socket,id=" + id + ",fd=" + std::to_string(fd) + ",server=on,wait=off";
}

void add(std::vector<std::string>& arguments, std::initializer_list<std::string> more) {
    arguments.insert(arguments.end(), more);
}

// pic and pit must be on: without them the kernel hangs silently under TCG. suppress-vmdesc keeps a
// harmless complaint out of the log at restore.
void add_board(std::vector<std::string>& arguments, const GuestHardware& hardware) {
    add(arguments, {"-M",
                    "microvm,pic=on,pit=on,rtc=on,memory-backend=ram,suppress-vmdesc=on,"
                    "mem-merge=off,dump-guest-core=off"});
    if (hardware.accelerator == AcceleratorKind::kvm) {
        add(arguments, {"-accel", "kvm", "-cpu", "host,-vmx,-svm"});
    } else {
        // Without erms and fsrm the guest copies memory in wide moves, which TCG translates well:
        // 15 % faster. Without AVX2 because QEMU 7.2 computes some of its gathers wrong (those with
        // index register ymm4), and numpy.argsort then gives wrong answers or crashes.
        add(arguments,
            {"-accel", "tcg,thread=multi,tb-size=" + std::to_string(limits::qemu_tcg_buffer_mib),
             "-cpu", "max,-erms,-fsrm,-avx2"});
    }
    add(arguments, {"-smp", "1", "-m", std::to_string(hardware.ram_bytes / limits::MiB)});
}

}  // namespace

std::vector<int> QemuDescriptors::all() const {
    std::vector<int> out;
    for (const int fd : {ram, root, kernel, initrd, monitor, port}) {
        if (fd >= 0) out.push_back(fd);
    }
    return out;
}

std::string guest_kernel_arguments(const GuestHardware& hardware) {
    std::string text = "console=ttyS0 panic=1 reboot=t quiet mitigations=off random.trust_cpu=on";
    // Watching for stalls of tasks and CPUs wakes an idle guest some times a second.
    text += " psi=0 nowatchdog";
    if (hardware.accelerator == AcceleratorKind::tcg) {
        text +=
            " tsc_early_khz=" + std::to_string(hardware.tsc_khz) + " tsc=reliable no_timer_check";
    }
    if (!hardware.extra_kernel_arguments.empty()) text += " " + hardware.extra_kernel_arguments;
    return text;
}

std::vector<std::string> qemu_arguments(const GuestHardware& hardware,
                                        const QemuDescriptors& descriptors, QemuStart start,
                                        const std::string& name) {
    std::vector<std::string> arguments = {qemu_binary, "-name", name};
    add_board(arguments, hardware);
    const std::string share = start == QemuStart::boot ? "on" : "off";
    add(arguments,
        {"-object",
         "memory-backend-file,id=ram,size=" + std::to_string(hardware.ram_bytes) +
             ",mem-path=" + inherited(descriptors.ram) + ",share=" + share,
         "-nodefaults", "-no-user-config", "-display", "none",
         // The console is a ring inside QEMU: bounded, needs no reader, survives the gateway.
         "-chardev", "ringbuf,id=console,size=" + std::to_string(limits::console_ring_bytes),
         "-serial", "chardev:console",
         // A guest that shuts down or panics pauses, so that its console can still be read.
         "-action", "reboot=shutdown,shutdown=pause,panic=pause",
         // The descriptor itself, not a path to reopen: a QEMU of another uid may lack the rights.
         "-add-fd", "set=1,fd=" + std::to_string(descriptors.root), "-drive",
         "id=root,file=/dev/fdset/1,format=raw,if=none,readonly=on,file.locking=off", "-device",
         "virtio-blk-device,drive=root", "-device", "virtio-serial-device", "-chardev",
         socket_option("port", descriptors.port), "-device",
         "virtserialport,chardev=port,name=cellblock", "-chardev",
         socket_option("monitor", descriptors.monitor), "-mon", "chardev=monitor,mode=control",
         "-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny"});
    if (start == QemuStart::boot) {
        add(arguments,
            {"-kernel", inherited(descriptors.kernel), "-initrd", inherited(descriptors.initrd),
             "-append", guest_kernel_arguments(hardware)});
    } else {
        // The kernel is in the restored RAM already: a clone without -kernel and -initrd saves the
        // private copies that QEMU would keep of both.
        add(arguments, {"-S", "-incoming", "defer", "-global", "migration.send-configuration=off"});
    }
    return arguments;
}

std::string hardware_fingerprint(const GuestHardware& hardware) {
    QemuDescriptors numbers;
    numbers.ram = 1;
    numbers.root = 2;
    numbers.kernel = 3;
    numbers.initrd = 4;
    numbers.monitor = 5;
    numbers.port = 6;
    std::string text;
    for (const QemuStart start : {QemuStart::boot, QemuStart::restore}) {
        for (const std::string& argument : qemu_arguments(hardware, numbers, start, "x")) {
            text += argument + "\n";
        }
    }
    return text;
}

}  // namespace cellblock::vm
