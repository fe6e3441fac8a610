// Whether the gateway asks for a token, decided once at the start.
//
// Only one thing opens it: the setting insecure_no_token, where neither other machines nor web
// pages of any site reach it. An empty token alone never does: a variable that some script left
// unset is no decision.
#pragma once

#include <optional>
#include <string>

namespace cellblock::gateway::auth {

enum class Admission {
    with_token,
    everybody,  // whoever reaches the port may do everything
};

// Who reaches the port that is listened on.
enum class Reach { this_machine, other_machines };

struct AdmissionWish {
    bool without_token = false;        // the setting insecure_no_token
    std::optional<std::string> token;  // KG_AUTH_TOKEN; absent: nothing was said about it
    Reach reach = Reach::other_machines;
    bool for_any_site = false;  // allowed_hosts or allowed_origins has "*"

    AdmissionWish() = default;
};

struct AdmissionDecision {
    Admission admission = Admission::with_token;
    std::string reason;  // for the log, where it is not plainly what was asked for; else empty

    AdmissionDecision() = default;
};

// Pure.
AdmissionDecision decide_admission(const AdmissionWish& wish);

}  // namespace cellblock::gateway::auth
