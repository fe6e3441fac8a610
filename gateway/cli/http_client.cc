#include "gateway/cli/http_client.h"

#include <cstdlib>

#include <curl/curl.h>

#include "base/limits.h"
#include "gateway/auth/token.h"
#include "gateway/http/headers.h"

namespace cellblock::gateway::cli {

class HttpClient::Impl {
  public:
    std::string url;
    std::string token;
    CURL* curl = nullptr;

    Impl() : curl(::curl_easy_init()) {}
    Impl(const Impl&) = delete;
    Impl& operator=(const Impl&) = delete;
    ~Impl() { ::curl_easy_cleanup(curl); }
};

namespace {

struct Receiving {
    HttpReply reply;
    const HttpCall* call = nullptr;
    CURL* curl = nullptr;
    bool too_large = false;
};

std::size_t on_body(char* data, std::size_t, std::size_t size, void* user) {
    auto& receiving = *static_cast<Receiving*>(user);
    long status = 0;
    ::curl_easy_getinfo(receiving.curl, CURLINFO_RESPONSE_CODE, &status);
    if (status == 200 && receiving.call->on_data) {
        receiving.call->on_data(std::string_view(data, size));
        return size;
    }
    if (receiving.reply.body.size() + size > limits::GiB) {
        receiving.too_large = true;
        return 0;
    }
    receiving.reply.body.append(data, size);
    return size;
}

std::size_t on_header(char* data, std::size_t, std::size_t size, void* user) {
    auto& receiving = *static_cast<Receiving*>(user);
    const std::string_view line(data, size);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos) {
        std::string_view value = line.substr(colon + 1);
        while (!value.empty() && (value.back() == '\r' || value.back() == '\n')) {
            value.remove_suffix(1);
        }
        receiving.reply.headers[http::to_lower(line.substr(0, colon))] =
            std::string(http::trim(value));
    }
    return size;
}

Error connection_error(CURLcode code, const std::string& url) {
    const std::string reason = ::curl_easy_strerror(code);
    switch (code) {
        case CURLE_COULDNT_CONNECT:
        case CURLE_COULDNT_RESOLVE_HOST:
            return Error(ErrorCode::unavailable, "no gateway answers at " + url + ": " + reason,
                         "start one with: cellblock serve (or set CELLBLOCK_URL to where it runs)");
        case CURLE_PEER_FAILED_VERIFICATION:
        case CURLE_SSL_CACERT_BADFILE:
            return Error(ErrorCode::unavailable,
                         "the certificate of " + url + " is not trusted: " + reason,
                         "set CURL_CA_BUNDLE to the file of its certificate authority");
        case CURLE_PARTIAL_FILE:
        case CURLE_RECV_ERROR:
        case CURLE_GOT_NOTHING:
            return Error(ErrorCode::connection_lost,
                         "the gateway at " + url + " broke the answer off: " + reason,
                         "its log says why; the sandbox may have ended");
        default:
            return Error(ErrorCode::connection_lost, "the call to " + url + " failed: " + reason);
    }
}

int on_progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<const HttpCall*>(user)->cancelled() ? 1 : 0;
}

// What all connections share.
void set_common(CURL* curl, const std::string& url) {
    ::curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    ::curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    ::curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 10L);
    ::curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    if (const char* bundle = std::getenv("CURL_CA_BUNDLE"); bundle != nullptr) {
        ::curl_easy_setopt(curl, CURLOPT_CAINFO, bundle);
    }
}

class CurlStream final : public GatewayStream {
  public:
    explicit CurlStream(CURL* curl) : curl_(curl) {}
    CurlStream(const CurlStream&) = delete;
    CurlStream& operator=(const CurlStream&) = delete;
    ~CurlStream() override { ::curl_easy_cleanup(curl_); }

    int descriptor() const override {
        curl_socket_t socket = CURL_SOCKET_BAD;
        ::curl_easy_getinfo(curl_, CURLINFO_ACTIVESOCKET, &socket);
        return socket;
    }

    Result<std::size_t> read(std::span<std::byte> to) override {
        std::size_t moved = 0;
        const CURLcode code = ::curl_easy_recv(curl_, to.data(), to.size(), &moved);
        if (code == CURLE_AGAIN) return std::size_t{0};
        if (code == CURLE_OK && moved > 0) return moved;
        return fail(ErrorCode::connection_lost, "the gateway closed the connection");
    }

    Result<std::size_t> write(std::span<const std::byte> from) override {
        std::size_t moved = 0;
        const CURLcode code = ::curl_easy_send(curl_, from.data(), from.size(), &moved);
        if (code == CURLE_AGAIN) return std::size_t{0};
        if (code == CURLE_OK) return moved;
        return fail(ErrorCode::connection_lost,
                    std::string("writing to the gateway failed: ") + ::curl_easy_strerror(code));
    }

  private:
    CURL* curl_;
};

// The message that the gateway gave, in either of its error shapes.
Error reply_error(const HttpReply& reply) {
    ErrorCode code = reply.status == 404 ? ErrorCode::not_found : ErrorCode::io;
    if (reply.status == 401) code = ErrorCode::unauthorized;
    const Json json = Json::parse(reply.body, nullptr, false);
    if (json.is_object() && json.contains("message") && json["message"].is_string()) {
        std::string advice;
        if (json.contains("advice") && json["advice"].is_string()) advice = json["advice"];
        return Error(code, json["message"], advice);
    }
    std::string text = reply.body.substr(0, 2000);
    if (text.empty()) text = "the gateway answered with status " + std::to_string(reply.status);
    return Error(code, text);
}

}  // namespace

HttpClient::HttpClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
HttpClient::HttpClient(HttpClient&&) noexcept = default;
HttpClient& HttpClient::operator=(HttpClient&&) noexcept = default;
HttpClient::~HttpClient() = default;

const std::string& HttpClient::url() const {
    return impl_->url;
}

std::string HttpClient::authorization() const {
    return "Bearer " + impl_->token;
}

Result<std::unique_ptr<GatewayStream>> HttpClient::open_stream() const {
    CURL* curl = ::curl_easy_init();
    if (curl == nullptr) return fail(ErrorCode::internal, "libcurl cannot be initialised");
    auto stream = std::make_unique<CurlStream>(curl);
    set_common(curl, impl_->url);
    ::curl_easy_setopt(curl, CURLOPT_CONNECT_ONLY, 1L);
    // TLS must not agree on HTTP/2: an upgrade is HTTP/1.1's.
    ::curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
    ::curl_easy_setopt(curl, CURLOPT_TCP_NODELAY, 1L);
    const CURLcode code = ::curl_easy_perform(curl);
    if (code != CURLE_OK) return fail(connection_error(code, impl_->url));
    return stream;
}

Result<HttpClient> HttpClient::for_gateway(const config::Config& config, std::string given_url) {
    auto impl = std::make_unique<Impl>();
    if (impl->curl == nullptr) return fail(ErrorCode::internal, "libcurl cannot be initialised");
    const char* url = std::getenv("CELLBLOCK_URL");
    if (given_url.empty() && url != nullptr) given_url = url;
    if (!given_url.empty()) {
        impl->url = std::move(given_url);
        while (!impl->url.empty() && impl->url.back() == '/') impl->url.pop_back();
    } else {
        impl->url = (config.tls_certificate.empty() ? "http://" : "https://") + config.listen;
        for (const char* any : {"//0.0.0.0:", "//[::]:"}) {
            const std::size_t at = impl->url.find(any);
            if (at != std::string::npos) {
                impl->url.replace(at, std::string_view(any).size(), "//127.0.0.1:");
            }
        }
    }
    const char* token = std::getenv("CELLBLOCK_TOKEN");
    if (token != nullptr && token[0] != '\0') {
        impl->token = token;
    } else {
        auto read = auth::load_token(config.token_path());
        if (!read) {
            return fail(ErrorCode::unauthorized,
                        "the gateway's token is not known: " + read.error().cause,
                        "start the gateway first (cellblock serve makes the token), or set "
                        "CELLBLOCK_TOKEN");
        }
        impl->token = std::move(*read);
    }
    return HttpClient(std::move(impl));
}

Result<HttpReply> HttpClient::call(const HttpCall& call) {
    CURL* curl = impl_->curl;
    ::curl_easy_reset(curl);
    const bool whole = call.path.substr(0, 4) == "http";
    const std::string url = whole ? call.path : impl_->url + call.path;
    Receiving receiving;
    receiving.call = &call;
    receiving.curl = curl;
    curl_slist* headers = nullptr;
    for (const std::string& header : call.headers) {
        headers = ::curl_slist_append(headers, header.c_str());
    }
    headers = ::curl_slist_append(headers, ("Authorization: " + authorization()).c_str());
    if (!call.body.empty()) {
        headers = ::curl_slist_append(headers, "Content-Type: application/json");
        headers = ::curl_slist_append(headers, "Expect:");
        ::curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call.body.c_str());
        ::curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                           static_cast<curl_off_t>(call.body.size()));
    }
    set_common(curl, url);
    ::curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call.method.c_str());
    ::curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    ::curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    ::curl_easy_setopt(curl, CURLOPT_WRITEDATA, &receiving);
    ::curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
    ::curl_easy_setopt(curl, CURLOPT_HEADERDATA, &receiving);
    ::curl_easy_setopt(curl, CURLOPT_TIMEOUT, static_cast<long>(call.timeout.count()));
    if (call.cancelled) {
        ::curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
        ::curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
        ::curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &call);
    }
    const CURLcode code = ::curl_easy_perform(curl);
    ::curl_slist_free_all(headers);
    if (receiving.too_large) return fail(ErrorCode::too_large, "the answer is larger than 1 GiB");
    if (code == CURLE_ABORTED_BY_CALLBACK && call.cancelled) {
        return fail(ErrorCode::cancelled, "the call to the gateway was given up");
    }
    if (code != CURLE_OK) return fail(connection_error(code, impl_->url));
    long status = 0;
    ::curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    receiving.reply.status = static_cast<int>(status);
    return std::move(receiving.reply);
}

Result<HttpReply> HttpClient::expect_success(const HttpCall& asked) {
    CB_TRY_ASSIGN(reply, call(asked));
    if (reply.status < 200 || reply.status > 299) return fail(reply_error(reply));
    return reply;
}

}  // namespace cellblock::gateway::cli
