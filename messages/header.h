#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace trainyard {

/// The fixed-size frame in front of every body. Little-endian, in this order, no padding (docs/wire_format.md).
struct Header {
  static constexpr std::uint32_t kMagic = 0x44595254;  ///< "TRYD"
  static constexpr std::uint16_t kVersion = 1;

  // Of the little-endian number the first byte in the frame is 'T'.
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  std::uint16_t payloads = 0;      ///< How many payload frames follow the body.
  std::uint64_t fingerprint = 0;   ///< Of the body's message type.
  std::uint64_t sequence = 0;      ///< 0, 1, 2, ... per output port.
  std::uint32_t source = 0;        ///< Index of the sending component in the plan.
  std::uint32_t subscription = 0;  ///< The number that the subscriber gave its subscription.
  std::int64_t send_time_ns = 0;   ///< CLOCK_REALTIME when the handler sent it.
  std::uint64_t trace = 0;         ///< Follows a batch through the pipeline; 0 = none.
  std::uint64_t handles = 0;       ///< Bit i: payload i is a SharedHandle, not the bytes.
};
// Written and read as it lies in memory, so no compiler may put padding into it.
static_assert(sizeof(Header) == 56);

/// The header in `frame`; throws kCorrupt for another size, magic or version, or more payloads than allowed. The
/// fingerprint is not looked at: whoever knows the type compares it.
Header read_header(std::span<const std::byte> frame);

}  // namespace trainyard
