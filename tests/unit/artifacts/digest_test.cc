#include "artifacts/digest.h"

#include <doctest/doctest.h>

using namespace cellblock;
using namespace cellblock::artifacts;

TEST_CASE("SHA-256 of known texts") {
    Sha256 empty;
    CHECK(empty.finish() == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    Sha256 pieces;
    pieces.update(as_bytes("a"));
    pieces.update(as_bytes("bc"));
    CHECK(pieces.finish() == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}
