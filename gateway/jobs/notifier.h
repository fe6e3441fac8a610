// Tells people and programs that a job has ended: attempts, waits between them, and the end of
// patience.
//
// Owner: Jobs. Loop thread; the calls themselves block threads of its own, so that a receiver that
// hangs holds up nothing but other notices.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "base/metrics.h"
#include "base/worker_pool.h"
#include "gateway/jobs/call_policy.h"
#include "gateway/jobs/job_limits.h"
#include "gateway/jobs/job_record.h"
#include "gateway/jobs/mail.h"

namespace cellblock::gateway::jobs {

struct NotifierOptions {
    CallPolicy policy;
    MailServer mail;
};

class Notifier {
  public:
    Notifier(NotifierOptions options, metrics::Registry& metrics);
    // Cuts off the calls that run.
    ~Notifier();
    Notifier(const Notifier&) = delete;
    Notifier& operator=(const Notifier&) = delete;

    // "webhook" and "email" of a body, checked; not_supported for mail without a server.
    Result<Notices> notices_from(const Json& body) const;

    // Called after each attempt, when `progress` has changed.
    using Changed = std::function<boost::asio::awaitable<void>()>;
    // Until it is delivered, or given up. `progress` lives until then.
    boost::asio::awaitable<void> post(Webhook webhook, std::string message_id, std::string body,
                                      NoticeProgress& progress, Changed changed);
    boost::asio::awaitable<void> send(Mail mail, NoticeProgress& progress, Changed changed);
    const MailServer& mail_server() const { return options_.mail; }

  private:
    enum class Verdict { delivered, again, never };
    struct Attempt {
        Verdict verdict = Verdict::again;
        std::string reason;
    };
    using Once = std::function<Result<Attempt>()>;
    boost::asio::awaitable<void> insist(Once once, NoticeProgress& progress, Changed changed,
                                        std::string_view kind);
    Attempt post_once(const Webhook& webhook, const std::string& message_id,
                      const std::string& body) const;
    metrics::Counter& counter(std::string_view kind, std::string_view result);

    const NotifierOptions options_;
    metrics::Registry& metrics_;
    std::atomic<bool> stop_{false};
    WorkerPool workers_{notice_threads};
};

}  // namespace cellblock::gateway::jobs
