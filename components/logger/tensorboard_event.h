#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

// The event files of TensorBoard: protobuf messages (tensorflow.Event) in checksummed records. Only the few fields that
// scalars and texts need are written, so the encoder is a page long and needs no protobuf library. Wall times are
// seconds since 1970.

/// CRC-32C (Castagnoli), as in RFC 3720.
std::uint32_t crc32c(std::string_view bytes);

/// One record: u64 length, masked crc32c of it, the data, masked crc32c of that; little-endian.
void append_record(std::string& out, std::string_view data);

/// The event every file begins with: it names the version of the format. A reader refuses a file without it.
std::string version_event(double wall_time);

/// An event with one number.
std::string scalar_event(double wall_time, std::uint64_t step, std::string_view tag, float value);

/// An event with one text, for TensorBoard's text page.
std::string text_event(double wall_time, std::uint64_t step, std::string_view tag, std::string_view text);

}  // namespace trainyard
