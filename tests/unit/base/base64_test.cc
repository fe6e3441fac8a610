#include "base/base64.h"

#include <doctest/doctest.h>

using namespace cellblock;

TEST_CASE("base64 encodes the vectors of RFC 4648 section 10 and decodes them back") {
    const std::pair<const char*, const char*> vectors[] = {{"", ""},
                                                           {"f", "Zg=="},
                                                           {"fo", "Zm8="},
                                                           {"foo", "Zm9v"},
                                                           {"foob", "Zm9vYg=="},
                                                           {"fooba", "Zm9vYmE="},
                                                           {"foobar", "Zm9vYmFy"}};
    for (const auto& [plain, encoded] : vectors) {
        CHECK(base64_encode(as_bytes(plain)) == encoded);
        const auto decoded = base64_decode(encoded);
        REQUIRE(decoded.has_value());
        CHECK(as_text(*decoded) == plain);
    }
}

TEST_CASE("base64 refuses foreign characters, data behind padding and a missing end") {
    for (const char* bad : {"Zg=", "Z", "Zg==Zg==", "Zm9v-g==", "=", "Zm9vYg===", "\xff"}) {
        CAPTURE(bad);
        CHECK_FALSE(base64_decode(bad).has_value());
    }
}

TEST_CASE("base64 accepts the line breaks that Python's encodebytes writes") {
    const auto decoded = base64_decode("Zm9v\nYmFy\n");
    REQUIRE(decoded.has_value());
    CHECK(as_text(*decoded) == "foobar");
}
