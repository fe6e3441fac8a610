// Connection files of kernels, for ZeroMQ clients on this host: a process of its own
// (`cellblock connect`) relays each kernel, started when its file is first asked for, ended by the
// kernel's end.
//
// Owner: the Door. Loop thread only. The destructor asks the processes to end; they also end by
// themselves when the gateway is gone.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/process.h"

namespace cellblock::gateway::jupyter {

// How a kernel's relay is started. It prints a line once it has written `file` and serves.
using RelayCommand =
    std::function<SpawnOptions(const std::string& kernel_id, const std::filesystem::path& file)>;

class ConnectionFiles {
  public:
    ConnectionFiles(boost::asio::any_io_executor executor, std::filesystem::path folder,
                    RelayCommand command);
    ConnectionFiles(const ConnectionFiles&) = delete;
    ConnectionFiles& operator=(const ConnectionFiles&) = delete;
    ~ConnectionFiles();

    // {"shell_port", ..., "ip", "transport", "key", "signature_scheme"}, as Jupyter has it. Waits
    // until clients are served.
    boost::asio::awaitable<Result<Json>> of(std::string kernel_id);

  private:
    struct Relay;
    using Relays = std::map<std::string, std::shared_ptr<Relay>>;
    static boost::asio::awaitable<void> run(std::shared_ptr<Relays> relays, std::string kernel_id,
                                            std::shared_ptr<Relay> relay);

    boost::asio::any_io_executor executor_;
    std::filesystem::path folder_;
    RelayCommand command_;
    std::shared_ptr<Relays> relays_ = std::make_shared<Relays>();
};

}  // namespace cellblock::gateway::jupyter
