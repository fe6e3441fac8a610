// What is written to receivers: URLs checked, signatures, e-mails.
#include <doctest/doctest.h>

#include "base/base64.h"
#include "gateway/jobs/mail.h"
#include "gateway/jobs/webhook.h"

using namespace cellblock;
using namespace cellblock::gateway::jobs;

namespace {

ErrorCode code_of(const Json& body) {
    const auto policy = CallPolicy::parse({"*"});
    const auto webhook = webhook_from(body, *policy);
    return webhook ? ErrorCode::internal : webhook.error().code;
}

const std::string secret = "0123456789abcdef";

}  // namespace

TEST_CASE("a webhook's signature is that of Standard Webhooks") {
    // The example of the specification's own libraries.
    const std::string signature =
        webhook_signature("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "msg_p5jXN8AQM9LWM0D4loKWxJek",
                          1614265330, R"({"test": 2432232314})");
    CHECK(signature == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    CHECK(webhook_signature(secret, "a", 1, "x") != webhook_signature(secret, "a", 2, "x"));
    CHECK(webhook_signature(secret, "a", 1, "x") != webhook_signature(secret, "b", 1, "x"));
}

TEST_CASE("the host of a URL is found as the one that is called has it") {
    CHECK(webhook_host("https://Hooks.Example.org/x?y").value() == "hooks.example.org");
    CHECK(webhook_host("http://[::1]:80/").value() == "::1");
    CHECK(webhook_host("http://example.org.:8080/").value() == "example.org");
    // Other ways to write an address are the address.
    CHECK(webhook_host("http://2130706433/").value() == "127.0.0.1");
    CHECK(webhook_host("http://0x7f.1/").value() == "127.0.0.1");
}

TEST_CASE("what is no plain http URL is refused") {
    for (const char* url :
         {"", "nothing", "ftp://example.org/", "file:///etc/passwd", "gopher://example.org",
          "http://", "https://user:password@example.org/", "https://user@example.org/",
          "http://exa mple.org/", "http://example.org/\r\nX: y", "smtp://example.org"}) {
        CAPTURE(url);
        CHECK(webhook_host(url).error().code == ErrorCode::invalid_argument);
    }
    CHECK_FALSE(webhook_host("http://example.org/" + std::string(4000, 'x')));
}

TEST_CASE("a webhook has a URL that may be called and a secret of some length") {
    const auto policy = CallPolicy::parse({"*"});
    const Json good = {{"url", "https://hooks.example.org/x"}, {"secret", secret}};
    CHECK(webhook_from(good, *policy)->secret == secret);
    CHECK(code_of({{"url", "https://hooks.example.org"}}) == ErrorCode::invalid_argument);
    CHECK(code_of({{"url", "https://a.org"}, {"secret", "short"}}) == ErrorCode::invalid_argument);
    CHECK(code_of({{"url", "https://a.org"}, {"secret", std::string(300, 'x')}}) ==
          ErrorCode::invalid_argument);
    CHECK(code_of({{"url", "http://169.254.169.254/latest"}, {"secret", secret}}) ==
          ErrorCode::forbidden);
    CHECK(code_of({{"url", "http://[::ffff:127.0.0.1]/"}, {"secret", secret}}) ==
          ErrorCode::forbidden);
    CHECK(code_of(Json::array()) == ErrorCode::invalid_argument);
}

TEST_CASE("an address that could add a header or a recipient is none") {
    CHECK(check_address("someone@example.org"));
    CHECK(check_address("first.last+tag@localhost"));
    for (const char* address :
         {"", "someone", "@example.org", "someone@", "a@b@c", "a b@example.org", "<a@b>",
          "a@b\r\nBcc: c@d", "a@b,c@d", "a@b;c@d", "-oQ@example.org", "\"a\"@b", "\xc3\xa4@b"}) {
        CAPTURE(address);
        CHECK_FALSE(check_address(address));
    }
    CHECK_FALSE(check_address(std::string(300, 'a') + "@b"));
}

TEST_CASE("a mail server needs a URL and a sender") {
    CHECK(check_mail_server({"", ""}));
    CHECK(check_mail_server({"smtp://mail:25", "jobs@example.org"}));
    CHECK_FALSE(check_mail_server({"http://mail", "jobs@example.org"}));
    CHECK_FALSE(check_mail_server({"smtp://mail", ""}));
    CHECK_FALSE(check_mail_server({"", "jobs@example.org"}));
}

TEST_CASE("a message carries any text in lines that mail servers take") {
    Mail mail;
    mail.from = "jobs@example.org";
    mail.to = "someone@example.org";
    mail.subject = "Job a succeeded";
    mail.text = ".\r\n" + std::string(2000, 'x') + " \xc3\xa4\n";
    mail.id = "job.a";
    const std::string message = message_of(mail);
    const std::size_t end = message.find("\r\n\r\n");
    REQUIRE(end != std::string::npos);
    CHECK(message.starts_with("Date: Thu, 01 Jan 1970 00:00:00 +0000\r\n"));
    CHECK(message.find("\r\nSubject: Job a succeeded\r\n") < end);
    CHECK(message.find("\r\nTo: <someone@example.org>\r\n") < end);
    for (std::size_t at = 0; at < message.size();) {
        const std::size_t next = message.find("\r\n", at);
        REQUIRE(next != std::string::npos);
        CHECK(next - at <= 78);
        at = next + 2;
    }
    const auto body = base64_decode(message.substr(end + 4));
    REQUIRE(body);
    CHECK(as_text(*body) == mail.text);
}
