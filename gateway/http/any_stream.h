// One byte stream for everything above the transport: plain TCP or TLS, chosen at accept.
//
// Type-erased on purpose: protocol templates (Beast, WebSocket) are then compiled once instead of
// once per transport. It models Asio's AsyncReadStream and AsyncWriteStream. Owner: the connection.
// Loop thread only; at most one read and one write at a time.
#pragma once

#include <array>
#include <memory>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "base/bytes.h"

namespace cellblock::gateway::http {

using TcpSocket = boost::asio::ip::tcp::socket;

enum class ProbeResult {
    sent,         // the bytes are in the socket's buffer
    unsupported,  // this transport cannot write outside its own order, or not now
    broken,       // the connection is gone
};

class AnyStream {
  public:
    using executor_type = boost::asio::any_io_executor;
    using lowest_layer_type = TcpSocket;
    using IoHandler =
        boost::asio::any_completion_handler<void(boost::system::error_code, std::size_t)>;
    using EndHandler = boost::asio::any_completion_handler<void(boost::system::error_code)>;
    static constexpr std::size_t write_buffers_max = 16;
    using WriteBuffers = std::array<boost::asio::const_buffer, write_buffers_max>;

    virtual ~AnyStream() = default;

    // TLS: the handshake. TCP: nothing.
    virtual void start_handshake(EndHandler handler) = 0;
    // After a failed handshake: tells a peer that can understand it why, without waiting.
    virtual void refuse_handshake(const boost::system::error_code&) {}
    // TLS: close_notify, without waiting for the peer's. Both: no more writes.
    virtual void start_shutdown(EndHandler handler) = 0;
    // Writes a few bytes at once, without waiting, to learn whether the peer still listens. Only
    // while no write is running.
    virtual ProbeResult probe(ByteView bytes) = 0;

    TcpSocket& lowest_layer() { return socket(); }
    executor_type get_executor() { return socket().get_executor(); }

    template <typename Buffers, typename Token>
    auto async_read_some(const Buffers& buffers, Token&& token) {
        // One buffer a read: what Beast passes is one flat buffer.
        const boost::asio::mutable_buffer first =
            buffer_sequence_begin(buffers) == buffer_sequence_end(buffers)
                ? boost::asio::mutable_buffer()
                : boost::asio::mutable_buffer(*buffer_sequence_begin(buffers));
        return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
            [this, first](auto handler) { start_read(first, IoHandler(std::move(handler))); },
            token);
    }

    template <typename Buffers, typename Token>
    auto async_write_some(const Buffers& buffers, Token&& token) {
        WriteBuffers flat{};
        std::size_t count = 0;
        const auto end = buffer_sequence_end(buffers);
        for (auto it = buffer_sequence_begin(buffers); it != end && count < flat.size(); ++it) {
            flat[count++] = boost::asio::const_buffer(*it);
        }
        return boost::asio::async_initiate<Token, void(boost::system::error_code, std::size_t)>(
            [this, flat](auto handler) { start_write(flat, IoHandler(std::move(handler))); },
            token);
    }

    template <typename Token>
    auto async_handshake(Token&& token) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
            [this](auto handler) { start_handshake(EndHandler(std::move(handler))); }, token);
    }

    template <typename Token>
    auto async_shutdown(Token&& token) {
        return boost::asio::async_initiate<Token, void(boost::system::error_code)>(
            [this](auto handler) { start_shutdown(EndHandler(std::move(handler))); }, token);
    }

  protected:
    virtual TcpSocket& socket() = 0;
    virtual void start_read(boost::asio::mutable_buffer buffer, IoHandler handler) = 0;
    // Unused entries are empty buffers at the end.
    virtual void start_write(const WriteBuffers& buffers, IoHandler handler) = 0;

  private:
    template <typename Buffers>
    static auto buffer_sequence_begin(const Buffers& buffers) {
        return boost::asio::buffer_sequence_begin(buffers);
    }
    template <typename Buffers>
    static auto buffer_sequence_end(const Buffers& buffers) {
        return boost::asio::buffer_sequence_end(buffers);
    }
};

std::unique_ptr<AnyStream> make_tcp_stream(TcpSocket socket);

}  // namespace cellblock::gateway::http
