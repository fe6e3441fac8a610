// The server over TLS, with a certificate made for the test and OpenSSL's own client.
#include "gateway/http/tls.h"

#include <doctest/doctest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "live_server.h"

using namespace cellblock;
using namespace cellblock::gateway::http;
using namespace cellblock::gateway::http::testing;

namespace {

struct Certificate {
    std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("cellblock-tls-" + new_short_id());
    std::filesystem::path chain = folder / "cert.pem";
    std::filesystem::path key = folder / "key.pem";

    Certificate() {
        std::filesystem::create_directories(folder);
        EVP_PKEY* pair = EVP_EC_gen("P-256");
        X509* x509 = X509_new();
        ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
        X509_gmtime_adj(X509_getm_notBefore(x509), -60);
        X509_gmtime_adj(X509_getm_notAfter(x509), 3600);
        X509_set_pubkey(x509, pair);
        X509_NAME* name = X509_get_subject_name(x509);
        X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
                                   reinterpret_cast<const unsigned char*>("localhost"), -1, -1, 0);
        X509_set_issuer_name(x509, name);
        X509_sign(x509, pair, EVP_sha256());
        std::FILE* out = std::fopen(chain.c_str(), "w");
        PEM_write_X509(out, x509);
        std::fclose(out);
        out = std::fopen(key.c_str(), "w");
        PEM_write_PrivateKey(out, pair, nullptr, nullptr, 0, nullptr, nullptr);
        std::fclose(out);
        X509_free(x509);
        EVP_PKEY_free(pair);
    }
    ~Certificate() { std::filesystem::remove_all(folder); }
};

class TlsClient {
  public:
    explicit TlsClient(std::uint16_t port) : raw_(port) {
        context_ = SSL_CTX_new(TLS_client_method());
        ssl_ = SSL_new(context_);
        SSL_set_fd(ssl_, raw_.descriptor());
        connected_ = SSL_connect(ssl_) == 1;
    }
    ~TlsClient() {
        SSL_free(ssl_);
        SSL_CTX_free(context_);
    }
    bool connected() const { return connected_; }
    void send(const std::string& text) {
        SSL_write(ssl_, text.data(), static_cast<int>(text.size()));
    }
    std::string read_until(std::string_view mark) {
        std::string text;
        char block[4096];
        while (text.find(mark) == std::string::npos) {
            const int got = SSL_read(ssl_, block, sizeof block);
            if (got <= 0) break;
            text.append(block, static_cast<std::size_t>(got));
        }
        return text;
    }
    void close() { raw_.close(); }

  private:
    RawClient raw_;
    SSL_CTX* context_ = nullptr;
    SSL* ssl_ = nullptr;
    bool connected_ = false;
};

}  // namespace

TEST_CASE("serves over TLS, keeps the connection, and notices a vanished client") {
    const Certificate certificate;
    auto tls = TlsContext::load(certificate.chain, certificate.key);
    REQUIRE(tls.has_value());
    ServerOptions options = LiveServer::fast_options();
    options.tls = *tls;
    LiveServer server(options);
    TlsClient client(server.port());
    REQUIRE(client.connected());
    for (int i = 0; i < 2; ++i) {
        client.send(get("/hello"));
        CHECK(has(client.read_until("hello"), "HTTP/1.1 200 OK"));
    }
    client.send(get("/file"));
    CHECK(client.read_until(server.file_text.substr(599'000)).size() > 600'000);
    client.send(get("/lines"));
    client.read_until("line 0");
    client.close();
    CHECK(eventually([&] { return server.seen().cancelled == 1; }, milliseconds(1500)));

    // Plain HTTP on a TLS port is told what to do; rubbish is not answered.
    RawClient plain(server.port());
    plain.send(get("/hello"));
    const std::string refused = plain.read_all();
    CHECK(has(refused, "HTTP/1.1 400 Bad Request"));
    CHECK(has(refused, "use https://"));
    RawClient rubbish(server.port());
    rubbish.send(std::string(64, '\x01'));
    CHECK(!has(rubbish.read_all(), "HTTP"));
    CHECK(eventually([&] { return server.connections() == 0; }));
}

TEST_CASE("unusable certificates are refused with the file's name") {
    const Certificate certificate;
    const auto missing = TlsContext::load("/nonexistent/cert.pem", certificate.key);
    REQUIRE_FALSE(missing.has_value());
    CHECK(has(missing.error().cause, "/nonexistent/cert.pem"));
    const auto swapped = TlsContext::load(certificate.chain, certificate.chain);
    REQUIRE_FALSE(swapped.has_value());
    CHECK(has(swapped.error().cause, certificate.chain.string()));
}
