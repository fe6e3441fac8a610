// What leaves the gateway: one POST, one e-mail, by libcurl. Blocking and bounded: for the workers
// of notices, never for the loop thread.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "base/error.h"
#include "gateway/jobs/call_policy.h"
#include "gateway/jobs/mail.h"

namespace cellblock::gateway::jobs {

// Once per process, before any other thread.
void initialize_transport();

struct Post {
    std::string url;
    std::string host;  // of the URL (webhook_host)
    std::vector<std::string> headers;
    std::string body;
};

// The status of the answer, which is read and thrown away. No redirects, no proxy; forbidden when
// the host resolved to addresses that `policy` does not allow. `stop` ends it early.
Result<int> post(const Post& post, const CallPolicy& policy, const std::atomic<bool>& stop);

// Handed over to the mail server, or the reason why not. A password goes over TLS only.
Result<void> send_mail(const MailServer& server, const Mail& mail, const std::atomic<bool>& stop);

}  // namespace cellblock::gateway::jobs
