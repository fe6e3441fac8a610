#include "vm/agent/launcher.h"

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>

#include "base/files.h"
#include "base/process.h"

namespace cellblock::vm::agent {

Result<pid_t> launch(boost::asio::any_io_executor executor, LaunchRequest request) {
    SpawnOptions spawn({"/proc/self/exe", "launch", std::to_string(request.uid),
                        std::to_string(request.gid), std::to_string(request.oom_score_adj),
                        request.cgroup_procs.string(), "--"});
    spawn.argv.insert(spawn.argv.end(), request.argv.begin(), request.argv.end());
    spawn.environment = std::move(request.environment);
    spawn.working_directory = std::move(request.working_directory);
    spawn.standard_output = std::move(request.standard_output);
    spawn.standard_error = std::move(request.standard_error);
    CB_TRY_ASSIGN(process, Process::spawn(std::move(executor), std::move(spawn)));
    return process.release();
}

namespace {

int refuse(const char* step) {
    std::fprintf(stderr, "cellblock-agent launch: %s: %s\n", step, std::strerror(errno));
    return 126;
}

template <typename T>
bool parse_number(const std::string& text, T& value) {
    const auto end = text.data() + text.size();
    return std::from_chars(text.data(), end, value).ptr == end && !text.empty();
}

bool write_text(const char* path, const std::string& text) {
    const auto fd = open_file(path, O_WRONLY);
    return fd && write_all(fd->get(), text).has_value();
}

}  // namespace

int launcher_main(const std::vector<std::string>& arguments) {
    uid_t uid = 0;
    gid_t gid = 0;
    int oom_score_adj = 0;
    if (arguments.size() < 6 || arguments[4] != "--" || !parse_number(arguments[0], uid) ||
        !parse_number(arguments[1], gid) || !parse_number(arguments[2], oom_score_adj)) {
        errno = EINVAL;
        return refuse("arguments");
    }
    if (!arguments[3].empty() && !write_text(arguments[3].c_str(), "0")) return refuse("cgroup");
    // Neither is inherited from the agent, which runs first and is never killed. Giving up needs no
    // right.
    (void)::setpriority(PRIO_PROCESS, 0, 0);
    (void)write_text("/proc/self/oom_score_adj", std::to_string(oom_score_adj));
    if (::getuid() == 0 && uid != 0) {
        if (::setgroups(0, nullptr) != 0) return refuse("setgroups");
        if (::setresgid(gid, gid, gid) != 0) return refuse("setgid");
        if (::setresuid(uid, uid, uid) != 0) return refuse("setuid");
    }
    (void)::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);  // not to outlive a rootless agent
    // The spawner made us a group leader, and a leader cannot setsid(): harmless for a kernel,
    // whose group is what signals go to.
    ::setsid();
    ::umask(022);
    std::vector<char*> argv;
    for (std::size_t i = 5; i < arguments.size(); ++i) {
        argv.push_back(const_cast<char*>(arguments[i].c_str()));
    }
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    return refuse(argv[0]);
}

}  // namespace cellblock::vm::agent
