#include "base/digest.h"

#include <doctest/doctest.h>

#include "base/hex.h"
#include "tests/unit/temporary_folder.h"

namespace cellblock {

TEST_CASE("SHA-256 of known texts, whole and in pieces") {
    CHECK(sha256_hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    Sha256 pieces;
    pieces.update(as_bytes("a"));
    pieces.update(as_bytes("bc"));
    CHECK(pieces.finish() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("SHA-256 of a file, also of one that is longer than what is read at once") {
    const TemporaryFolder folder;
    const std::string text(3'000'000, 'x');
    folder.write("file", text);
    CHECK(sha256_file((folder / "file").string()) == sha256_hex(text));
    CHECK_FALSE(sha256_file((folder / "none").string()).has_value());
}

TEST_CASE("HMAC-SHA-256 of RFC 4231's second case") {
    CHECK(to_hex(as_bytes(hmac_sha256("Jefe", "what do ya want for nothing?"))) ==
          "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

}  // namespace cellblock
