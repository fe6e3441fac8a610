#include <sys/stat.h>

#include <doctest/doctest.h>

#include "base/files.h"
#include "gateway/auth/admission.h"
#include "gateway/auth/token.h"
#include "tests/unit/temporary_folder.h"

using namespace cellblock;
using namespace cellblock::gateway::auth;

TEST_CASE("a token has the form that E2B's clients check") {
    const std::string token = new_token();
    CHECK(token.substr(0, 4) == "e2b_");
    CHECK(token.size() >= 4 + 64);
    CHECK(token.find_first_not_of("0123456789abcdef", 4) == std::string::npos);
    CHECK(token != new_token());
}

TEST_CASE("the token file is made once, private, and read back") {
    const TemporaryFolder folder;
    const auto file = folder.path() / "deep" / "token";
    const auto made = load_or_create_token(file);
    REQUIRE(made.has_value());
    struct stat status{};
    REQUIRE(::stat(file.c_str(), &status) == 0);
    CHECK((status.st_mode & 0777) == 0600);
    CHECK(load_or_create_token(file).value() == *made);
    CHECK(load_token(file).value() == *made);
}

TEST_CASE("a token file that others can read, or that holds no token, is refused") {
    const TemporaryFolder folder;
    const auto file = folder.path() / "token";
    REQUIRE(write_file_atomically(file, "0123456789abcdef\n", 0644));
    CHECK(load_or_create_token(file).error().code == ErrorCode::forbidden);
    REQUIRE(write_file_atomically(file, "short\n", 0600));
    CHECK(load_or_create_token(file).error().code == ErrorCode::invalid_argument);
    REQUIRE(write_file_atomically(file, "two words and more\n", 0600));
    CHECK_FALSE(load_token(file).has_value());
    CHECK(load_token(folder.path() / "none").error().code == ErrorCode::not_found);
}

TEST_CASE("a gateway is open only where that was asked for and nobody else reaches it") {
    AdmissionWish wish;
    wish.without_token = true;
    wish.reach = Reach::this_machine;
    CHECK(decide_admission(wish).admission == Admission::everybody);
    CHECK(!decide_admission(wish).reason.empty());
    wish.token = "";  // as kernel_gateway has it
    CHECK(decide_admission(wish).admission == Admission::everybody);

    AdmissionWish refused = wish;
    refused.without_token = false;
    CHECK(decide_admission(refused).admission == Admission::with_token);
    CHECK(decide_admission(refused).reason.find("empty token") != std::string::npos);
    refused = wish;
    refused.reach = Reach::other_machines;
    CHECK(decide_admission(refused).admission == Admission::with_token);
    CHECK(decide_admission(refused).reason.find("other machines") != std::string::npos);
    refused = wish;
    refused.for_any_site = true;
    CHECK(decide_admission(refused).admission == Admission::with_token);
    CHECK(decide_admission(refused).reason.find("any web page") != std::string::npos);
    refused = wish;
    refused.token = "secret";
    CHECK(decide_admission(refused).admission == Admission::with_token);
}

TEST_CASE("what is plainly asked for needs no reason") {
    CHECK(decide_admission(AdmissionWish()).admission == Admission::with_token);
    CHECK(decide_admission(AdmissionWish()).reason.empty());
    AdmissionWish given;
    given.token = "secret";
    CHECK(decide_admission(given).reason.empty());
}
