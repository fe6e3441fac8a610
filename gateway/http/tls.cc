#include "gateway/http/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>

#include <string_view>

#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/error.hpp>
#include <boost/asio/ssl/stream.hpp>

namespace cellblock::gateway::http {
namespace {

namespace asio = boost::asio;

// To a browser or a curl that says http:// to a port that speaks TLS.
constexpr std::string_view plain_http_refused =
    "HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n"
    "This port speaks TLS, and a plain HTTP request came: use https://\n";

class TlsStream final : public AnyStream {
  public:
    TlsStream(TcpSocket socket, asio::ssl::context& context)
        : stream_(std::move(socket), context) {}

    void start_handshake(EndHandler handler) override {
        stream_.async_handshake(asio::ssl::stream_base::server, std::move(handler));
    }
    void refuse_handshake(const boost::system::error_code& error) override {
        if (error.category() != asio::error::get_ssl_category() ||
            ERR_GET_REASON(static_cast<unsigned long>(error.value())) != SSL_R_HTTP_REQUEST) {
            return;
        }
        // The socket's buffer is empty: these bytes fit into it or the peer is gone.
        boost::system::error_code ignored;
        socket().non_blocking(true, ignored);
        socket().write_some(asio::buffer(plain_http_refused), ignored);
    }
    void start_shutdown(EndHandler handler) override { stream_.async_shutdown(std::move(handler)); }
    // A record cannot be written outside the stream's own order.
    ProbeResult probe(ByteView) override { return ProbeResult::unsupported; }

  protected:
    TcpSocket& socket() override { return stream_.next_layer(); }
    void start_read(asio::mutable_buffer buffer, IoHandler handler) override {
        stream_.async_read_some(buffer, std::move(handler));
    }
    void start_write(const WriteBuffers& buffers, IoHandler handler) override {
        // OpenSSL encrypts one buffer a call: writing the first is a legal short write.
        stream_.async_write_some(buffers, std::move(handler));
    }

  private:
    asio::ssl::stream<TcpSocket> stream_;
};

}  // namespace

class TlsContext::Impl {
  public:
    asio::ssl::context context{asio::ssl::context::tls_server};
};

TlsContext::TlsContext(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TlsContext::~TlsContext() = default;

Result<std::shared_ptr<TlsContext>> TlsContext::load(const std::filesystem::path& certificate_chain,
                                                     const std::filesystem::path& private_key) {
    auto impl = std::make_unique<Impl>();
    asio::ssl::context& context = impl->context;
    boost::system::error_code ec;
    context.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_sslv2 |
                            asio::ssl::context::no_sslv3 | asio::ssl::context::no_tlsv1 |
                            asio::ssl::context::no_tlsv1_1,
                        ec);
    context.use_certificate_chain_file(certificate_chain.string(), ec);
    if (ec) {
        return fail(ErrorCode::invalid_argument,
                    "the TLS certificate " + certificate_chain.string() +
                        " cannot be used: " + ec.message(),
                    "give a PEM file that this user can read, the server's certificate first");
    }
    context.use_private_key_file(private_key.string(), asio::ssl::context::pem, ec);
    if (ec) {
        return fail(ErrorCode::invalid_argument,
                    "the TLS key " + private_key.string() + " cannot be used: " + ec.message(),
                    "give the PEM key that belongs to the certificate");
    }
    return std::shared_ptr<TlsContext>(new TlsContext(std::move(impl)));
}

std::unique_ptr<AnyStream> TlsContext::wrap(TcpSocket socket) {
    return std::make_unique<TlsStream>(std::move(socket), impl_->context);
}

}  // namespace cellblock::gateway::http
