#include "gateway/jobs/transport.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

#include <curl/curl.h>

#include "gateway/jobs/job_limits.h"

namespace cellblock::gateway::jobs {
namespace {

namespace ip = boost::asio::ip;

using Handle = std::unique_ptr<CURL, decltype(&::curl_easy_cleanup)>;
using List = std::unique_ptr<curl_slist, decltype(&::curl_slist_free_all)>;

struct Calling {
    const Post& post;
    const CallPolicy& policy;
    std::string refused;  // the address that was not allowed
    std::size_t received = 0;
};

List list_of(const std::vector<std::string>& lines) {
    curl_slist* list = nullptr;
    for (const std::string& line : lines) list = ::curl_slist_append(list, line.c_str());
    return List(list, &::curl_slist_free_all);
}

std::optional<ip::address> address_of(const curl_sockaddr& to) {
    if (to.family == AF_INET && to.addrlen >= sizeof(sockaddr_in)) {
        sockaddr_in in{};
        std::memcpy(&in, &to.addr, sizeof in);
        return ip::address_v4(ntohl(in.sin_addr.s_addr));
    }
    if (to.family == AF_INET6 && to.addrlen >= sizeof(sockaddr_in6)) {
        // curl_sockaddr ends with the first bytes of a longer address.
        const auto* bytes =
            reinterpret_cast<const unsigned char*>(&to.addr) + offsetof(sockaddr_in6, sin6_addr);
        ip::address_v6::bytes_type raw{};
        std::memcpy(raw.data(), bytes, raw.size());
        return ip::address_v6(raw);
    }
    return std::nullopt;
}

// The one place where a connection begins, after names were resolved.
curl_socket_t open_socket(void* user, curlsocktype, curl_sockaddr* to) {
    auto& calling = *static_cast<Calling*>(user);
    const auto address = address_of(*to);
    if (!address || !calling.policy.allows(calling.post.host, *address)) {
        calling.refused = address ? address->to_string() : "an address of another kind";
        return CURL_SOCKET_BAD;
    }
    return ::socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
}

std::size_t drop_answer(char*, std::size_t, std::size_t size, void* user) {
    auto& calling = *static_cast<Calling*>(user);
    calling.received += size;
    return calling.received > notice_answer_max_bytes ? 0 : size;
}

int on_progress(void* user, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
    return static_cast<const std::atomic<bool>*>(user)->load() ? 1 : 0;
}

void set_common(CURL* curl, const std::string& url, const char* protocols,
                const std::atomic<bool>& stop) {
    ::curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    ::curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, protocols);
    ::curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    ::curl_easy_setopt(curl, CURLOPT_PROXY, "");  // a proxy would connect where we must not
    ::curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    ::curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT,
                       static_cast<long>(notice_connect_timeout.count()));
    ::curl_easy_setopt(curl, CURLOPT_TIMEOUT, static_cast<long>(notice_timeout.count()));
    ::curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    ::curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    ::curl_easy_setopt(curl, CURLOPT_XFERINFODATA, &stop);
}

Error call_error(CURLcode code, const Calling& calling) {
    if (!calling.refused.empty()) {
        return Error(
            ErrorCode::forbidden,
            calling.post.host + " is at " + calling.refused + ", which this gateway does not call",
            "its setting webhook_hosts says which hosts may be called");
    }
    return Error(ErrorCode::unavailable,
                 "calling " + calling.post.host + " failed: " + ::curl_easy_strerror(code));
}

struct Outgoing {
    std::string text;
    std::size_t sent = 0;
};

std::size_t give_text(char* to, std::size_t unit, std::size_t count, void* user) {
    auto& outgoing = *static_cast<Outgoing*>(user);
    const std::size_t size = std::min(unit * count, outgoing.text.size() - outgoing.sent);
    std::memcpy(to, outgoing.text.data() + outgoing.sent, size);
    outgoing.sent += size;
    return size;
}

bool has_password(const std::string& url) {
    const std::size_t begin = url.find("//");
    return begin != std::string::npos &&
           url.substr(begin, url.find('/', begin + 2) - begin).find('@') != std::string::npos;
}

}  // namespace

void initialize_transport() {
    ::curl_global_init(CURL_GLOBAL_DEFAULT);
}

Result<int> post(const Post& post, const CallPolicy& policy, const std::atomic<bool>& stop) {
    const Handle curl(::curl_easy_init(), &::curl_easy_cleanup);
    if (!curl) return fail(ErrorCode::internal, "libcurl cannot be initialised");
    Calling calling{post, policy, "", 0};
    const List headers = list_of(post.headers);
    set_common(curl.get(), post.url, "http,https", stop);
    ::curl_easy_setopt(curl.get(), CURLOPT_HTTPHEADER, headers.get());
    ::curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDS, post.body.c_str());
    ::curl_easy_setopt(curl.get(), CURLOPT_POSTFIELDSIZE_LARGE,
                       static_cast<curl_off_t>(post.body.size()));
    ::curl_easy_setopt(curl.get(), CURLOPT_OPENSOCKETFUNCTION, open_socket);
    ::curl_easy_setopt(curl.get(), CURLOPT_OPENSOCKETDATA, &calling);
    ::curl_easy_setopt(curl.get(), CURLOPT_WRITEFUNCTION, drop_answer);
    ::curl_easy_setopt(curl.get(), CURLOPT_WRITEDATA, &calling);
    const CURLcode code = ::curl_easy_perform(curl.get());
    // A receiver that says more than anyone reads has still answered.
    const bool answered = code == CURLE_OK || calling.received > notice_answer_max_bytes;
    if (!answered) return fail(call_error(code, calling));
    long status = 0;
    ::curl_easy_getinfo(curl.get(), CURLINFO_RESPONSE_CODE, &status);
    return static_cast<int>(status);
}

Result<void> send_mail(const MailServer& server, const Mail& mail, const std::atomic<bool>& stop) {
    const Handle curl(::curl_easy_init(), &::curl_easy_cleanup);
    if (!curl) return fail(ErrorCode::internal, "libcurl cannot be initialised");
    Outgoing outgoing{message_of(mail)};
    const List recipients = list_of({"<" + mail.to + ">"});
    set_common(curl.get(), server.url, "smtp,smtps", stop);
    const long tls = has_password(server.url) ? CURLUSESSL_ALL : CURLUSESSL_TRY;
    ::curl_easy_setopt(curl.get(), CURLOPT_USE_SSL, tls);
    ::curl_easy_setopt(curl.get(), CURLOPT_MAIL_FROM, ("<" + mail.from + ">").c_str());
    ::curl_easy_setopt(curl.get(), CURLOPT_MAIL_RCPT, recipients.get());
    ::curl_easy_setopt(curl.get(), CURLOPT_UPLOAD, 1L);
    ::curl_easy_setopt(curl.get(), CURLOPT_READFUNCTION, give_text);
    ::curl_easy_setopt(curl.get(), CURLOPT_READDATA, &outgoing);
    const CURLcode code = ::curl_easy_perform(curl.get());
    if (code == CURLE_OK) return {};
    return fail(ErrorCode::unavailable, std::string("the mail server did not take the message: ") +
                                            ::curl_easy_strerror(code));
}

}  // namespace cellblock::gateway::jobs
