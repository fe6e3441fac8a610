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

Result<HttpClient> HttpClient::for_gateway(const config::Config& config) {
    auto impl = std::make_unique<Impl>();
    if (impl->curl == nullptr) return fail(ErrorCode::internal, "libcurl cannot be initialised");
    const char* url = std::getenv("CELLBLOCK_URL");
    if (url != nullptr && url[0] != '\0') {
        impl->url = url;
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
    headers = ::curl_slist_append(headers, ("Authorization: Bearer " + impl_->token).c_str());
    if (!call.body.empty()) {
        headers = ::curl_slist_append(headers, "Content-Type: application/json");
        headers = ::curl_slist_append(headers, "Expect:");
        ::curl_easy_setopt(curl, CURLOPT_POSTFIELDS, call.body.c_str());
        ::curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                           static_cast<curl_off_t>(call.body.size()));
    }
    ::curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    ::curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, call.method.c_str());
    ::curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    ::curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
    ::curl_easy_setopt(curl, CURLOPT_WRITEDATA, &receiving);
    ::curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, on_header);
    ::curl_easy_setopt(curl, CURLOPT_HEADERDATA, &receiving);
    ::curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    ::curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 10L);
    ::curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    if (const char* bundle = std::getenv("CURL_CA_BUNDLE"); bundle != nullptr) {
        ::curl_easy_setopt(curl, CURLOPT_CAINFO, bundle);
    }
    const CURLcode code = ::curl_easy_perform(curl);
    ::curl_slist_free_all(headers);
    if (receiving.too_large) return fail(ErrorCode::too_large, "the answer is larger than 1 GiB");
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
