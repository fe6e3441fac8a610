// The limits of jobs, with their reasons.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

#include "base/limits.h"

namespace cellblock::gateway::jobs {

using std::chrono::seconds;

// Output kept of one job: twice what one execution may send inline (1 MiB of text, 16 MiB of rich
// data), because JSON escapes and previews come on top. Past it lines are counted, not kept.
inline constexpr std::size_t job_output_max_bytes = 32 * limits::MiB;
// What GET /jobs/{id} shows of it; the rest is in the job's stream.
inline constexpr std::size_t job_view_max_bytes = 1 * limits::MiB;
// One read of a stream.
inline constexpr std::size_t job_stream_piece_bytes = 256 * limits::KiB;
// Jobs that have ended and are still told of: 8 GiB on disk if each used all its output, and the
// list still fits one answer.
inline constexpr std::size_t jobs_remembered_max = 256;
inline constexpr seconds job_retention{7 * 24 * 3600};
// job.json: a thousand artifacts of some 500 bytes, and an error with its traceback.
inline constexpr std::size_t job_record_max_bytes = 4 * limits::MiB;
// Of an error's value and traceback, each.
inline constexpr std::size_t job_error_max_bytes = 64 * limits::KiB;
// What a job's sandbox lives beyond its cell's deadline, should the gateway be slow to end it.
inline constexpr seconds job_sandbox_slack{120};
// Proxies cut silent streams after a minute.
inline constexpr seconds job_keepalive_interval{15};

// Notices. A URL as browsers and servers take it; a secret of 128 to 2048 bits.
inline constexpr std::size_t webhook_url_max_bytes = 2048;
inline constexpr std::size_t webhook_secret_min_bytes = 16;
inline constexpr std::size_t webhook_secret_max_bytes = 256;
// RFC 5321, 4.5.3.1.3.
inline constexpr std::size_t email_address_max_bytes = 254;
// Threads that call receivers: two, so that one that hangs does not hold all others up.
inline constexpr std::size_t notice_threads = 2;
inline constexpr seconds notice_connect_timeout{10};
inline constexpr seconds notice_timeout{20};
// What is read, and thrown away, of a receiver's answer.
inline constexpr std::size_t notice_answer_max_bytes = 64 * limits::KiB;
// Waits between attempts: a restart of the receiver, a deployment, an outage of half an hour. Six
// attempts in all; then it is given up, and the job says so.
inline constexpr std::array<seconds, 5> notice_waits = {seconds(2), seconds(10), seconds(60),
                                                        seconds(300), seconds(1800)};

}  // namespace cellblock::gateway::jobs
