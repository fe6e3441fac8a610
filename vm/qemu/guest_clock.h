// The guest's wall clock, held to the host's as NTP does it (RFC 5905, section 8): asked several
// times, believed within what all answers allow, moved by the difference. An absolute time would be
// as wrong as its way is long, which is a fifth of a second on a busy host.
//
// Stateless; loop thread.
#pragma once

#include <boost/asio/awaitable.hpp>

#include "base/error.h"
#include "vm/link/link.h"

namespace cellblock::vm {

// Leaves the clock alone when it is right within what can be known.
boost::asio::awaitable<Result<void>> settle_guest_clock(link::Link& link);

}  // namespace cellblock::vm
