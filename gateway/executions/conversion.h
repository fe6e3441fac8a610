// A stored table turned into a format that the host does not write (Parquet, Excel): in a sandbox
// of its own, made for it and deleted after it, whatever happens.
//
// The guest reads a file that another guest made, so nothing of it is trusted: the answer is a
// stream of bytes, bounded, for the client. One object a conversion; loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "base/bytes.h"
#include "base/error.h"
#include "base/fd.h"
#include "base/worker_pool.h"
#include "gateway/sandboxes/sandbox_manager.h"

namespace cellblock::gateway {

enum class ConversionTarget { parquet, xlsx };

std::optional<ConversionTarget> conversion_target_from(std::string_view extension);
std::string_view mime_of(ConversionTarget target);

// An Arrow IPC file.
struct ConversionSource {
    Fd fd;
    std::uint64_t size_bytes = 0;
    ConversionSource() = default;
};

class Conversion {
  public:
    // Takes the pieces of the result, each before the next is read.
    using Sink = std::function<boost::asio::awaitable<Result<void>>(ByteView piece)>;

    Conversion(SandboxManager& sandboxes, WorkerPool& workers, SandboxSpec spec);

    // too_large for a source past limits::conversion_source_max_bytes, not_supported with the
    // guest's reason when the table does not fit the format.
    boost::asio::awaitable<Result<void>> run(ConversionSource source, ConversionTarget target,
                                             const Sink& sink);

  private:
    boost::asio::awaitable<Result<void>> run_in(SandboxPointer sandbox, ConversionSource source,
                                                ConversionTarget target, const Sink& sink);
    boost::asio::awaitable<Result<void>> upload(Sandbox& sandbox, ConversionSource source);
    boost::asio::awaitable<Result<void>> convert(Sandbox& sandbox, ConversionTarget target);
    boost::asio::awaitable<Result<void>> download(Sandbox& sandbox, const Sink& sink);

    SandboxManager& sandboxes_;
    WorkerPool& workers_;
    SandboxSpec spec_;
};

}  // namespace cellblock::gateway
