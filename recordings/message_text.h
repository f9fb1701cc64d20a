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

// A message in a recording is one JSON object. It contains the fields of the message, as json_from_binary() writes
// them, and after these up to two fields that do not belong to the message.

/// The field for the trace of the message: a number that identifies the batch that caused the message. The trace is
/// written as 16 hexadecimal digits, because many JSON readers keep only 53 bits of a number. The field is left out if
/// the message has no trace.
inline constexpr const char* kTraceField = "_trace";
/// The field for the payloads, a list with the bytes of each payload as base64. The field is left out if the payloads
/// are not recorded.
inline constexpr const char* kPayloadsField = "_payloads";

/// Returns true if the message type itself has a field named kTraceField or kPayloadsField. Its messages must then be
/// recorded without trace and payloads.
bool uses_reserved_names(const Schema& schema);

/// Appends a message to `out` as JSON on one line. Pass 0 as `trace` and an empty list as `payloads` to leave them out.
/// Throws kCorrupt if the body does not match the schema; `out` is then unchanged.
void append_message(const Schema& schema, std::span<const std::byte> body, std::uint64_t trace,
                    std::span<const std::string_view> payloads, std::string& out);

/// A message that was read from a recording.
struct RestoredMessage {
  std::string body;  ///< The binary form of the message (docs/wire_format.md, section 5).
  std::uint64_t trace = 0;
  /// One element for each payload to which the body refers. An element is empty if its payload was not recorded.
  std::vector<std::string> payloads;
};

/// Converts the JSON of a recording back to a message. Throws kCorrupt if the JSON does not match the schema.
RestoredMessage restore_message(const Schema& schema, std::string_view json);

}  // namespace trainyard::recordings
