// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

// The event files of TensorBoard: protobuf messages (tensorflow.Event) in checksummed records. Only the few fields that
// scalars and texts require are written, so the encoder is short and does without a protobuf library. Wall times are in
// seconds since 1970.

/// Returns the CRC-32C (Castagnoli) of `bytes`, as in RFC 3720.
std::uint32_t crc32c(std::string_view bytes);

/// Appends one record: the length of `data` as u64, the masked CRC-32C of this length, `data` itself, and the masked
/// CRC-32C of `data`. Numbers are little-endian.
void append_record(std::string& out, std::string_view data);

/// Returns the first event of every file. The event contains the version of the format; readers refuse a file without
/// it.
std::string version_event(double wall_time);

/// Returns an event with one number.
std::string scalar_event(double wall_time, std::uint64_t step, std::string_view tag, float value);

/// Returns an event with one text, for TensorBoard's text page.
std::string text_event(double wall_time, std::uint64_t step, std::string_view tag, std::string_view text);

}  // namespace trainyard
