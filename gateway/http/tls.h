// TLS for the front door: OpenSSL through Asio, TLS 1.2 and newer, HTTP/1.1 only.
#pragma once

#include <filesystem>
#include <memory>

#include "base/error.h"
#include "gateway/http/any_stream.h"

namespace cellblock::gateway::http {

// A certificate chain with its key, loaded once at start.
class TlsContext {
  public:
    // PEM files. The error says which file is wrong and why.
    static Result<std::shared_ptr<TlsContext>> load(const std::filesystem::path& certificate_chain,
                                                    const std::filesystem::path& private_key);
    std::unique_ptr<AnyStream> wrap(TcpSocket socket);
    ~TlsContext();

  private:
    class Impl;
    explicit TlsContext(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace cellblock::gateway::http
