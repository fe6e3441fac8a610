#include "gateway/jobs/notifier.h"

#include <algorithm>
#include <utility>

#include <boost/asio/steady_timer.hpp>

#include "base/awaitable.h"
#include "base/clock.h"
#include "base/ids.h"
#include "base/log.h"
#include "gateway/jobs/transport.h"

namespace cellblock::gateway::jobs {

namespace asio = boost::asio;

namespace {

// A fifth more or less, so that what failed together does not come back together.
std::chrono::milliseconds jittered(std::chrono::seconds wait) {
    std::uint16_t random = 0;
    fill_random(&random, sizeof random);
    const auto ms = std::chrono::milliseconds(wait).count();
    return std::chrono::milliseconds(ms * 4 / 5 + ms * 2 / 5 * random / 65'535);
}

asio::awaitable<void> wait_for(std::chrono::milliseconds duration) {
    asio::steady_timer timer(co_await asio::this_coro::executor, duration);
    co_await timer.async_wait(as_tuple_awaitable);
}

}  // namespace

Notifier::Notifier(NotifierOptions options, metrics::Registry& metrics)
    : options_(std::move(options)), metrics_(metrics) {
    initialize_transport();
}

Notifier::~Notifier() {
    stop_ = true;
}

Result<Notices> Notifier::notices_from(const Json& body) const {
    Notices notices;
    if (const auto webhook = body.find("webhook"); webhook != body.end() && !webhook->is_null()) {
        CB_TRY_ASSIGN(checked, webhook_from(*webhook, options_.policy));
        notices.webhook = std::move(checked);
    }
    CB_TRY_ASSIGN(email, optional_string(body, "email"));
    if (!email) return notices;
    CB_TRY(check_address(*email));
    if (options_.mail.url.empty()) {
        return fail(ErrorCode::not_supported, "this gateway sends no e-mail",
                    "its settings smtp_url and smtp_from name a mail server");
    }
    notices.email = std::move(*email);
    return notices;
}

metrics::Counter& Notifier::counter(std::string_view kind, std::string_view result) {
    return metrics_.counter("cellblock_job_notices_total", "Notices of ended jobs",
                            {{"kind", std::string(kind)}, {"result", std::string(result)}});
}

Notifier::Attempt Notifier::post_once(const Webhook& webhook, const std::string& message_id,
                                      const std::string& body) const {
    Attempt attempt;
    const auto host = webhook_host(webhook.url);
    if (!host) {
        attempt.verdict = Verdict::never;
        attempt.reason = host.error().text();
        return attempt;
    }
    const std::int64_t now_s = wall_clock_ns() / 1'000'000'000;
    Post call;
    call.url = webhook.url;
    call.host = *host;
    call.headers = webhook_headers(webhook.secret, message_id, now_s, body);
    call.body = body;
    const auto status = jobs::post(call, options_.policy, stop_);
    if (!status) {
        if (status.error().code == ErrorCode::forbidden) attempt.verdict = Verdict::never;
        attempt.reason = status.error().text();
    } else if (*status >= 200 && *status <= 299) {
        attempt.verdict = Verdict::delivered;
    } else {
        // 410 Gone: the receiver wants no more (Standard Webhooks).
        if (*status == 410) attempt.verdict = Verdict::never;
        attempt.reason = "the receiver answered with status " + std::to_string(*status);
    }
    return attempt;
}

asio::awaitable<void> Notifier::insist(Once once, NoticeProgress& progress, Changed changed,
                                       std::string_view kind) {
    const auto attempts_max = static_cast<std::int64_t>(notice_waits.size()) + 1;
    while (progress.state == NoticeState::pending) {
        const auto attempt = co_await workers_.run(once);
        if (!attempt) {  // too much is waiting: no attempt was made
            co_await wait_for(jittered(notice_waits.front()));
            continue;
        }
        ++progress.attempts;
        progress.last_error = attempt->reason;
        const bool last = progress.attempts >= attempts_max;
        if (attempt->verdict == Verdict::delivered) {
            progress.state = NoticeState::delivered;
        } else if (attempt->verdict == Verdict::never || last) {
            progress.state = NoticeState::failed;
            log::warning("job_notice_failed", {{"kind", kind}, {"error", attempt->reason}});
        }
        co_await changed();
        if (progress.state != NoticeState::pending) break;
        const auto next = static_cast<std::size_t>(progress.attempts - 1);
        co_await wait_for(jittered(notice_waits.at(next)));
    }
    counter(kind, to_string(progress.state)).Increment();
}

asio::awaitable<void> Notifier::post(Webhook webhook, std::string message_id, std::string body,
                                     NoticeProgress& progress, Changed changed) {
    Once once = [this, webhook = std::move(webhook), message_id = std::move(message_id),
                 body = std::move(body)]() -> Result<Attempt> {
        return post_once(webhook, message_id, body);
    };
    co_await insist(std::move(once), progress, std::move(changed), "webhook");
}

asio::awaitable<void> Notifier::send(Mail mail, NoticeProgress& progress, Changed changed) {
    Once once = [this, mail = std::move(mail)]() -> Result<Attempt> {
        const auto sent = send_mail(options_.mail, mail, stop_);
        Attempt attempt;
        if (sent) {
            attempt.verdict = Verdict::delivered;
        } else {
            attempt.reason = sent.error().text();
        }
        return attempt;
    };
    co_await insist(std::move(once), progress, std::move(changed), "email");
}

}  // namespace cellblock::gateway::jobs
