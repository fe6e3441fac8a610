#include <sys/socket.h>

#include <cerrno>

#include <boost/asio/append.hpp>
#include <boost/asio/post.hpp>

#include "gateway/http/any_stream.h"

namespace cellblock::gateway::http {
namespace {

namespace asio = boost::asio;

class TcpStream final : public AnyStream {
  public:
    explicit TcpStream(TcpSocket socket) : socket_(std::move(socket)) {}

    void start_handshake(EndHandler handler) override {
        asio::post(socket_.get_executor(),
                   asio::append(std::move(handler), boost::system::error_code()));
    }
    void start_shutdown(EndHandler handler) override {
        boost::system::error_code ec;
        socket_.shutdown(TcpSocket::shutdown_send, ec);
        asio::post(socket_.get_executor(), asio::append(std::move(handler), ec));
    }
    ProbeResult probe(ByteView bytes) override {
        const ssize_t sent = ::send(socket_.native_handle(), bytes.data(), bytes.size(),
                                    MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent == static_cast<ssize_t>(bytes.size())) return ProbeResult::sent;
        // A full buffer is no proof of anything. A part of the bytes would tear the stream.
        if (sent < 0 && (errno == EAGAIN || errno == EINTR)) return ProbeResult::unsupported;
        return ProbeResult::broken;
    }

  protected:
    TcpSocket& socket() override { return socket_; }
    void start_read(asio::mutable_buffer buffer, IoHandler handler) override {
        socket_.async_read_some(buffer, std::move(handler));
    }
    void start_write(const WriteBuffers& buffers, IoHandler handler) override {
        socket_.async_write_some(buffers, std::move(handler));
    }

  private:
    TcpSocket socket_;
};

}  // namespace

std::unique_ptr<AnyStream> make_tcp_stream(TcpSocket socket) {
    return std::make_unique<TcpStream>(std::move(socket));
}

}  // namespace cellblock::gateway::http
