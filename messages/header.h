// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace trainyard {

/// The frame of fixed size that precedes every message body. It consists of these fields in this order, little-endian
/// and without padding (docs/wire_format.md).
struct Header {
  static constexpr std::uint32_t kMagic = 0x44595254;  ///< "TRYD"
  static constexpr std::uint16_t kVersion = 1;

  /// The magic number. It is little-endian, so the first byte of the frame is 'T'.
  std::uint32_t magic = kMagic;
  std::uint16_t version = kVersion;
  std::uint16_t payloads = 0;     ///< The number of payload frames that follow the body.
  std::uint64_t fingerprint = 0;  ///< The fingerprint of the body's message type.
  std::uint64_t sequence = 0;     ///< The number of the message at its output: 0, 1, 2, ...
  /// The index of the sending component in the plan. It is also 0 if the sender is not a component but a process, as on
  /// "/log".
  std::uint32_t source = 0;
  std::uint32_t subscription = 0;  ///< The number that the subscriber has chosen (Subscribe::subscription).
  std::int64_t send_time_ns = 0;   ///< When the message was sent, according to CLOCK_REALTIME.
  /// The number of the batch that caused the message; 0 if there is none. The data loader assigns it, and every message
  /// that a handler sends gets the number of the message that the handler received.
  std::uint64_t trace = 0;
  /// Bit i is set if payload i contains a SharedHandle (the location of the bytes in shared memory) instead of the
  /// bytes themselves.
  std::uint64_t handles = 0;
};
// The header is sent exactly as it is in memory, so no compiler may put padding into it.
static_assert(sizeof(Header) == 56);

/// Reads the header in `frame`. Throws kCorrupt if the size, magic or version is wrong or there are too many payloads.
/// Does not check the fingerprint; the caller, which knows the message type, must check it.
Header read_header(std::span<const std::byte> frame);

}  // namespace trainyard
