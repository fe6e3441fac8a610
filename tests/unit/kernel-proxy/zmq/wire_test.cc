#include "kernel-proxy/zmq/wire.h"

#include <doctest/doctest.h>

#include "base/limits.h"
#include "kernel-proxy/message.h"
#include "tests/unit/kernel-proxy/zmq/texts.h"

using namespace cellblock;
using namespace cellblock::kernel_proxy;
using namespace cellblock::kernel_proxy::zmq_door;

namespace {

const std::string key = "5d0a3a2b-9f1e2c44e6b1";

Texts request_frames() {
    return {R"({"msg_id":"m","msg_type":"execute_request","session":"s"})", "{}", "{}",
            R"({"code":"1"})"};
}

// The whole message as a ROUTER gives it.
Texts signed_message(const Signer& signer, const Texts& frames = request_frames()) {
    Texts parts = wire_head({"client"}, views_of(frames), signer);
    parts.insert(parts.end(), frames.begin(), frames.end());
    return parts;
}

ErrorCode refusal(const Texts& parts, const Signer& signer) {
    const auto views = views_of(parts);
    const auto read = read_wire(views, signer);
    REQUIRE_FALSE(read);
    return read.error().code;
}

}  // namespace

TEST_CASE("a signature is what Python's hmac makes of the four frames") {
    const Signer signer = Signer::create("hmac-sha256", "key").value();
    const Texts frames = {"The quick brown fox ", "jumps over ", "the lazy ", "dog"};
    CHECK(signer.sign(views_of(frames)) ==
          "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8");
    const Signer sha1 = Signer::create("hmac-sha1", "key").value();
    CHECK(sha1.sign(views_of(frames)) == "de7c9b85b8b78aa6bc8a7a36f70a90701c9db4d9");
}

TEST_CASE("a scheme that nobody knows is refused when the door is made") {
    for (const char* scheme : {"hmac-rot13", "sha256", "hmac-", ""}) {
        CHECK(Signer::create(scheme, "key").error().code == ErrorCode::not_supported);
    }
}

TEST_CASE("a message goes through byte for byte, with its identities and buffers") {
    const Signer signer = Signer::create("hmac-sha256", key).value();
    Texts frames = request_frames();
    frames[3] = "{\"code\" :  \"\xc3\xa9\", \"x\": 1.0e0}";
    frames.push_back(std::string("\x00\xff\xfe", 3));
    frames.emplace_back();
    Texts parts = signed_message(signer, frames);
    parts.insert(parts.begin(), "a hop before");
    const auto views = views_of(parts);
    const auto read = read_wire(views, signer);
    REQUIRE(read);
    CHECK(read->identities == Identities{"a hop before", "client"});
    REQUIRE(read->frames.size() == frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) CHECK(as_text(read->frames[i]) == frames[i]);
}

TEST_CASE("signatures of any other length are refused, prefixes of the right one too") {
    const Signer signer = Signer::create("hmac-sha256", key).value();
    const Texts parts = signed_message(signer);
    for (std::size_t length = 0; length < 64; ++length) {
        Texts shortened = parts;
        shortened[2].resize(length);
        CHECK(refusal(shortened, signer) == ErrorCode::unauthorized);
    }
    Texts longer = parts;
    longer[2] += "0";
    CHECK(refusal(longer, signer) == ErrorCode::unauthorized);
}

TEST_CASE("a changed bit in the signature or in any signed frame is refused") {
    const Signer signer = Signer::create("hmac-sha256", key).value();
    const Texts parts = signed_message(signer);
    for (std::size_t part = 2; part < parts.size(); ++part) {
        Texts changed = parts;
        changed[part].back() = static_cast<char>(changed[part].back() ^ 1);
        CHECK(refusal(changed, signer) == ErrorCode::unauthorized);
    }
    const Signer other = Signer::create("hmac-sha256", "another key").value();
    CHECK(refusal(parts, other) == ErrorCode::unauthorized);
}

TEST_CASE("messages that are cut off are refused before their signature is looked at") {
    const Signer signer = Signer::create("hmac-sha256", key).value();
    const Texts whole = signed_message(signer);
    for (std::size_t parts = 0; parts < whole.size(); ++parts) {
        const Texts cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(parts));
        CHECK(refusal(cut, signer) == ErrorCode::invalid_argument);
    }
}

TEST_CASE("too many identities and too many buffers are refused") {
    const Signer signer = Signer::create("hmac-sha256", key).value();
    Texts parts = signed_message(signer);
    parts.insert(parts.begin(), limits::zmq_identities_max, "hop");
    CHECK(refusal(parts, signer) == ErrorCode::invalid_argument);
    parts = signed_message(signer);
    parts.insert(parts.end(), limits::kernel_message_frames_max, "");
    CHECK(refusal(parts, signer) == ErrorCode::invalid_argument);
}

TEST_CASE("without a key nothing is signed and nothing is checked") {
    const Signer signer = Signer::create("hmac-sha256", "").value();
    Texts parts = signed_message(signer);
    CHECK(parts[2].empty());
    parts[2] = "whatever";
    CHECK(read_wire(views_of(parts), signer));
}

TEST_CASE("signed nonsense passes the codec and is refused by whoever reads it, without a crash") {
    const Signer signer = Signer::create("hmac-sha256", key).value();
    const std::string deep(100'000, '[');
    for (const std::string& header : {deep, std::string("\xff\xfe"), std::string("{"),
                                      std::string(R"({"msg_id":1,"msg_type":"x"})")}) {
        const Texts parts = signed_message(signer, {header, "{}", "{}", "{}"});
        const auto views = views_of(parts);
        const auto read = read_wire(views, signer);
        REQUIRE(read);
        CHECK_FALSE(read_routing(read->frames[0], read->frames[1]));
    }
}
