// An e-mail that tells of a job: addresses checked, the message written (RFC 5322, MIME). Pure.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/error.h"

namespace cellblock::gateway::jobs {

// How mail leaves this machine. An empty URL: it does not.
struct MailServer {
    std::string url;   // smtp://host:25, smtps://user:password@host:465
    std::string from;  // an address
};

// One plain address, ASCII, without display name: nothing that could add a header or a recipient.
Result<void> check_address(const std::string& address);
// The operator's two settings belong together.
Result<void> check_mail_server(const MailServer& server);

struct Mail {
    std::string from;
    std::string to;
    std::string subject;  // ASCII of our own, no text of guests
    std::string text;     // UTF-8
    std::string id;       // makes the Message-ID: the same for each attempt
    WallTime date;
};
std::string message_of(const Mail& mail);

}  // namespace cellblock::gateway::jobs
