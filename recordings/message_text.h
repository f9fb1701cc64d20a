// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "messages/schema.h"

namespace trainyard::recordings {

// A message in a recording is one JSON object: the fields of the message in the form of json_from_binary(), and after
// them up to two fields that do not belong to the message.

/// The trace of the message, as 16 hexadecimal digits, because many readers of JSON keep only 53 bits of a number. It
/// is left out if the message has none.
inline constexpr const char* kTraceField = "_trace";
/// The bytes of the payloads, each as base64. It is left out if the recording has no payloads.
inline constexpr const char* kPayloadsField = "_payloads";

/// Returns true if messages of this type have fields of the names above. They are then recorded without a trace and
/// without payloads.
bool uses_reserved_names(const Schema& schema);

/// Appends a message as JSON on one line. `payloads` is empty if they are not recorded. Throws kCorrupt if the body
/// does not match the schema; `out` is then as it was before.
void append_message(const Schema& schema, std::span<const std::byte> body, std::uint64_t trace,
                    std::span<const std::string_view> payloads, std::string& out);

/// A message that was read from a recording.
struct RestoredMessage {
  std::string body;  ///< The binary form (docs/wire_format.md, section 5).
  std::uint64_t trace = 0;
  /// One entry for each payload to which the body refers; its bytes are empty if they were not recorded.
  std::vector<std::string> payloads;
};

/// Converts the JSON of a recording back. Throws kCorrupt if it does not match the schema.
RestoredMessage restore_message(const Schema& schema, std::string_view json);

}  // namespace trainyard::recordings
