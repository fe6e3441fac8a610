// The methods of the `call` streams: parameters checked, then handed to the part that does it.
// Names and shapes are the host's contract with every template it has, so they only grow.
#include <fcntl.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>

#include "base/base64.h"
#include "base/files.h"
#include "base/limits.h"
#include "base/log.h"
#include "vm/agent/agent.h"
#include "vm/agent/claim.h"
#include "vm/agent/deadline.h"
#include "vm/agent/user_files.h"
#include "vm/link/protocol.h"

namespace cellblock::vm::agent {
namespace {

namespace asio = boost::asio;
using Reply = asio::awaitable<Result<Json>>;

std::string first_line(const char* file) {
    const auto text = read_file(file, 4096);
    return text ? text->substr(0, text->find('\n')) : std::string();
}

// --- the guest itself ----------------------------------------------------------------------------

Reply info(Agent& agent, Json) {
    utsname system{};
    ::uname(&system);
    Json failures = Json::array();
    for (const auto& failure : agent.report().failures) {
        failures.push_back({{"step", failure.step}, {"reason", failure.error.text()}});
    }
    Json skipped = Json::array();
    if (agent.options().mode == Mode::rootless) skipped = {"mounts", "cgroups", "clock", "entropy"};
    co_return Json{{"agent_version", agent_version},
                   {"protocol", link::kVersion},
                   {"boot_id", first_line("/proc/sys/kernel/random/boot_id")},
                   {"kernel_release", system.release},
                   {"python", agent.options().python},
                   {"zygote", agent.zygote().started()},
                   {"skipped", std::move(skipped)},
                   {"boot_failures", std::move(failures)},
                   {"kernels", agent.kernels().list()}};
}

Reply metrics(Agent& agent, Json) {
    Json reply = Json::object();
    if (const Cgroups* cgroups = agent.cgroups()) {
        const SandboxUse use = cgroups->use();
        reply = {{"memory_used_bytes", use.memory.used_bytes},
                 {"memory_limit_bytes", use.memory.limit_bytes},
                 {"memory_peak_bytes", use.memory.peak_bytes},
                 {"oom_kills", use.memory.oom_kills},
                 {"cpu_usec", use.cpu_usec},
                 {"processes", use.processes}};
    }
    struct statvfs disk{};
    if (::statvfs(agent.options().mode == Mode::guest ? "/" : agent.options().home.c_str(),
                  &disk) == 0) {
        reply["disk_used_bytes"] = (disk.f_blocks - disk.f_bfree) * disk.f_frsize;
        reply["disk_total_bytes"] = disk.f_blocks * disk.f_frsize;
    }
    reply["reaped"] = agent.reaper().reaped();
    co_return reply;
}

Result<void> drop_caches() {
    ::sync();
    CB_TRY_ASSIGN(fd, open_file("/proc/sys/vm/drop_caches", O_WRONLY));
    CB_TRY(write_all(fd.get(), "3"));
    // Free pages become few large blocks: fewer distinct pages get dirty in each clone.
    CB_TRY_ASSIGN(compact, open_file("/proc/sys/vm/compact_memory", O_WRONLY));
    return write_all(compact.get(), "1");
}

Reply prepare_template(Agent& agent, Json) {
    const Deadline deadline = after(limits::agent_template_timeout);
    agent.zygote().start();
    CB_CO_TRY(co_await agent.zygote().wait_ready(deadline));
    StartOptions options;
    CB_CO_TRY_ASSIGN(started, co_await agent.kernels().start("default", options));
    const std::string code = "import cellblock_kernel.warmup as _w\n_w.run()\ndel _w\n";
    CB_CO_TRY(co_await agent.kernels().run_silently("default", code, deadline));
    if (agent.options().mode == Mode::guest) {
        CB_CO_TRY(co_await agent.workers().run(drop_caches));
    }
    co_return Json{{"via", started.via}, {"startup_ms", started.startup_ms}};
}

Result<std::filesystem::path> path_of(const Agent& agent, const Json& params, const char* field) {
    CB_TRY_ASSIGN(path, required_string(params, field));
    return resolve_user_path(path, agent.options().home);
}

UserIdentity user_of(const Agent& agent) {
    return UserIdentity{agent.options().uid, agent.options().gid};
}

// --- kernels -------------------------------------------------------------------------------------

Json to_json(const Started& started) {
    return Json{{"pid", started.pid}, {"via", started.via}, {"startup_ms", started.startup_ms}};
}

Result<std::vector<std::string>> parse_argv(const Json& params) {
    std::vector<std::string> argv;
    const auto given = params.find("argv");
    if (given == params.end()) return argv;
    if (!given->is_array()) return fail(ErrorCode::invalid_argument, "argv has to be an array");
    for (const Json& word : *given) {
        if (!word.is_string()) return fail(ErrorCode::invalid_argument, "argv has to be strings");
        argv.push_back(word.get<std::string>());
    }
    return argv;
}

Result<StartOptions> start_options(const Json& params) {
    StartOptions options;
    CB_TRY_ASSIGN(name, optional_string(params, "name"));
    CB_TRY_ASSIGN(cwd, optional_string(params, "cwd"));
    CB_TRY_ASSIGN(environment, parse_environment(params));
    CB_TRY_ASSIGN(argv, parse_argv(params));
    if (name && !name->empty()) options.name = *name;
    options.argv = std::move(argv);
    options.working_directory = cwd.value_or("");
    options.environment = std::move(environment);
    return options;
}

Reply kernel_start(Agent& agent, Json params) {
    CB_CO_TRY_ASSIGN(id, required_string(params, "kernel_id"));
    CB_CO_TRY_ASSIGN(options, start_options(params));
    if (!options.working_directory.empty()) {
        CB_CO_TRY_ASSIGN(folder, path_of(agent, params, "cwd"));
        auto job = [user = user_of(agent), folder] { return check_user_can_enter(user, folder); };
        CB_CO_TRY(co_await agent.workers().run(job));
        options.working_directory = folder.string();
    }
    CB_CO_TRY_ASSIGN(started, co_await agent.kernels().start(id, options));
    co_return to_json(started);
}

Reply kernel_restart(Agent& agent, Json params) {
    CB_CO_TRY_ASSIGN(id, required_string(params, "kernel_id"));
    CB_CO_TRY_ASSIGN(options, start_options(params));
    CB_CO_TRY_ASSIGN(started, co_await agent.kernels().restart(id, options));
    co_return to_json(started);
}

Reply kernel_stop(Agent& agent, Json params) {
    CB_CO_TRY_ASSIGN(id, required_string(params, "kernel_id"));
    CB_CO_TRY(co_await agent.kernels().stop(id));
    co_return Json::object();
}

Reply kernel_signal(Agent& agent, Json params) {
    CB_CO_TRY_ASSIGN(id, required_string(params, "kernel_id"));
    CB_CO_TRY_ASSIGN(number, required_integer(params, "signal"));
    if (number < 1 || number > 64) {
        co_return fail(ErrorCode::invalid_argument, "signal has to be 1 to 64");
    }
    CB_CO_TRY(agent.kernels().signal(id, static_cast<int>(number)));
    co_return Json::object();
}

Reply kernel_acknowledge(Agent& agent, Json params) {
    CB_CO_TRY_ASSIGN(id, required_string(params, "kernel_id"));
    CB_CO_TRY_ASSIGN(position, required_integer(params, "position"));
    if (position < 0) co_return fail(ErrorCode::invalid_argument, "position cannot be negative");
    CB_CO_TRY(agent.kernels().acknowledge(id, static_cast<std::uint64_t>(position)));
    co_return Json::object();
}

Reply kernel_list(Agent& agent, Json) {
    Json reply = Json::object();
    reply["kernels"] = agent.kernels().list();
    co_return reply;
}

// --- files ---------------------------------------------------------------------------------------

Reply file_stat(Agent& agent, Json params) {
    CB_CO_TRY_ASSIGN(path, path_of(agent, params, "path"));
    auto job = [user = user_of(agent), path] { return stat_user_file(user, path); };
    co_return co_await agent.workers().run(job);
}

Reply file_list(Agent& agent, Json params) {
    CB_CO_TRY_ASSIGN(path, path_of(agent, params, "path"));
    CB_CO_TRY_ASSIGN(depth, optional_integer(params, "depth"));
    if (depth && (*depth < 1 || *depth > 64)) {
        co_return fail(ErrorCode::invalid_argument, "depth has to be 1 to 64");
    }
    auto job = [user = user_of(agent), path, levels = depth.value_or(1)] {
        return list_user_folder(user, path, levels);
    };
    co_return co_await agent.workers().run(job);
}

Reply file_mkdir(Agent& agent, Json params) {
    CB_CO_TRY_ASSIGN(path, path_of(agent, params, "path"));
    auto job = [user = user_of(agent), path] { return make_user_folder(user, path); };
    co_return co_await agent.workers().run(job);
}

Reply file_remove(Agent& agent, Json params) {
    CB_CO_TRY_ASSIGN(path, path_of(agent, params, "path"));
    auto job = [user = user_of(agent), path] { return remove_user_file(user, path); };
    CB_CO_TRY(co_await agent.workers().run(job));
    co_return Json::object();
}

Reply file_move(Agent& agent, Json params) {
    CB_CO_TRY_ASSIGN(from, path_of(agent, params, "path"));
    CB_CO_TRY_ASSIGN(to, path_of(agent, params, "to"));
    auto job = [user = user_of(agent), from, to] { return move_user_file(user, from, to); };
    CB_CO_TRY(co_await agent.workers().run(job));
    co_return Json::object();
}

struct Method {
    const char* name;
    Reply (*function)(Agent&, Json);
};
constexpr std::array<Method, 16> methods = {{
    {"info", info},
    {"claim", claim},
    {"clock", answer_clock},
    {"metrics", metrics},
    {"prepare_template", prepare_template},
    {"kernel.start", kernel_start},
    {"kernel.restart", kernel_restart},
    {"kernel.stop", kernel_stop},
    {"kernel.signal", kernel_signal},
    {"kernel.acknowledge", kernel_acknowledge},
    {"kernel.list", kernel_list},
    {"file.stat", file_stat},
    {"file.list", file_list},
    {"file.mkdir", file_mkdir},
    {"file.remove", file_remove},
    {"file.move", file_move},
}};

}  // namespace

void add_calls(link::CallServer& server, Agent& agent) {
    for (const Method& method : methods) {
        server.add(method.name, [&agent, function = method.function](Json params) {
            return function(agent, std::move(params));
        });
    }
}

}  // namespace cellblock::vm::agent
