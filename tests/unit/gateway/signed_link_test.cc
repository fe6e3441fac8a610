#include "gateway/auth/signed_link.h"

#include <doctest/doctest.h>

using namespace cellblock;
using namespace cellblock::gateway;
using namespace cellblock::gateway::auth;

TEST_CASE("a link holds for its artifact, until its moment, under its token") {
    const LinkSigner signer("e2b_token");
    const http::Query query = http::Query::parse(signer.query_for("abc", 1000));
    CHECK(signer.check("abc", query, 999));
    CHECK(signer.check("abc", query, 1000).error().cause == "the link has expired");
    CHECK(signer.check("abd", query, 999).error().code == ErrorCode::unauthorized);
    CHECK_FALSE(LinkSigner("e2b_other").check("abc", query, 999));
}

TEST_CASE("a link whose moment or signature was changed is refused") {
    const LinkSigner signer("e2b_token");
    const std::string good = signer.query_for("abc", 1000);
    const std::string signature = good.substr(good.find("signature="));
    for (const std::string& query :
         {"expires=2000&" + signature, signature, std::string("expires=1000"),
          std::string("expires=1000&signature="), "expires=1e3&" + signature,
          "expires=99999999999999999999&" + signature, good + "A"}) {
        CAPTURE(query);
        CHECK_FALSE(signer.check("abc", http::Query::parse(query), 999));
    }
}

TEST_CASE("a signature survives a URL as it is") {
    const LinkSigner signer("e2b_token");
    for (int i = 0; i < 50; ++i) {
        const std::string query = signer.query_for("abc", i);
        CHECK(query.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                      "0123456789-_=&") == std::string::npos);
    }
}

TEST_CASE("everything under an artifact's path is about that artifact") {
    CHECK(artifact_in_path({"artifacts", "abc"}) == "abc");
    CHECK(artifact_in_path({"artifacts", "abc", "chart"}) == "abc");
    CHECK(artifact_in_path({"artifacts", "abc.csv"}) == "abc");
    CHECK_FALSE(artifact_in_path({"artifacts"}));
    CHECK_FALSE(artifact_in_path({"sandboxes", "abc"}));
}
