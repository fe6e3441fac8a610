#include "gateway/auth/admission.h"

namespace cellblock::gateway::auth {

AdmissionDecision decide_admission(const AdmissionWish& wish) {
    AdmissionDecision decision;
    const bool token_given = wish.token && !wish.token->empty();
    if (!wish.without_token) {
        if (wish.token && !token_given) {
            decision.reason =
                "an empty token does not open this gateway, the token file's is needed; to do "
                "without one, listen on a loopback address and set insecure_no_token to yes";
        }
    } else if (token_given) {
        decision.reason = "insecure_no_token changes nothing: a token was given too";
    } else if (wish.reach == Reach::other_machines) {
        decision.reason =
            "insecure_no_token changes nothing: other machines reach this address, so the token "
            "file's token is needed";
    } else if (wish.for_any_site) {
        decision.reason =
            "insecure_no_token changes nothing: allowed_hosts or allowed_origins lets any web page "
            "call this gateway, so the token file's token is needed";
    } else {
        decision.admission = Admission::everybody;
        decision.reason =
            "insecure_no_token: every user and program of this machine may do everything here";
    }
    return decision;
}

}  // namespace cellblock::gateway::auth
