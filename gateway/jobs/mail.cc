#include "gateway/jobs/mail.h"

#include <algorithm>

#include "base/base64.h"
#include "gateway/http/response.h"
#include "gateway/jobs/job_limits.h"

namespace cellblock::gateway::jobs {
namespace {

// RFC 2045: lines of encoded text have at most 76 characters.
constexpr std::size_t encoded_line_bytes = 76;

bool is_address_character(char c) {
    return c > ' ' && c < 0x7f && std::string_view("<>()[]\\,;:\"").find(c) == std::string::npos;
}

// As HTTP writes it, with the zone in digits.
std::string date_of(WallTime time) {
    std::string text = http::http_date(time);
    if (text.ends_with("GMT")) text.replace(text.size() - 3, 3, "+0000");
    return text;
}

}  // namespace

Result<void> check_address(const std::string& address) {
    const std::size_t at = address.rfind('@');
    const bool fits = address.size() <= email_address_max_bytes && at != std::string::npos &&
                      at > 0 && at + 1 < address.size() && address.front() != '-' &&
                      std::count(address.begin(), address.end(), '@') == 1 &&
                      std::all_of(address.begin(), address.end(), is_address_character);
    if (fits) return {};
    return fail(ErrorCode::invalid_argument, "that is no e-mail address",
                "one address, as in someone@example.org");
}

Result<void> check_mail_server(const MailServer& server) {
    if (server.url.empty() && server.from.empty()) return {};
    if (!server.url.starts_with("smtp://") && !server.url.starts_with("smtps://")) {
        return fail(ErrorCode::invalid_argument, "smtp_url must begin with smtp:// or smtps://");
    }
    const auto checked = check_address(server.from);
    if (!checked) return fail(checked.error().in("smtp_from"));
    return {};
}

std::string message_of(const Mail& mail) {
    std::string text = "Date: " + date_of(mail.date) + "\r\nFrom: <" + mail.from + ">\r\nTo: <" +
                       mail.to + ">\r\nSubject: " + mail.subject + "\r\nMessage-ID: <" + mail.id +
                       "@cellblock>\r\nAuto-Submitted: auto-generated\r\nMIME-Version: 1.0\r\n"
                       "Content-Type: text/plain; charset=utf-8\r\n"
                       "Content-Transfer-Encoding: base64\r\n\r\n";
    const std::string encoded = base64_encode(as_bytes(mail.text));
    for (std::size_t at = 0; at < encoded.size(); at += encoded_line_bytes) {
        text += encoded.substr(at, encoded_line_bytes) + "\r\n";
    }
    return text;
}

}  // namespace cellblock::gateway::jobs
