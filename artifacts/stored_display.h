// A stored artifact as the display that it came from, as far as what is stored goes: for whoever
// shows it again. Pure.
#pragma once

#include <cstddef>
#include <string_view>

#include "artifacts/artifact.h"
#include "artifacts/capture.h"
#include "base/bytes.h"

namespace cellblock::artifacts {

// How much of an artifact's content captured_again() wants: the beginning of a text, the whole of a
// picture that a chat API would take, nothing of what the metadata describes.
std::size_t content_wanted_bytes(const Artifact& artifact, std::size_t text_max_bytes);

// The table of its summary, the description of a chart, the text or base64 of `content`.
Captured captured_again(const Artifact& artifact, ByteView content);

}  // namespace cellblock::artifacts
