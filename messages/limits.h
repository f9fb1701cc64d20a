#pragma once

#include <cstddef>
#include <cstdint>

namespace trainyard {

/// Bounds of the wire format. A peer that exceeds one sends a corrupt message. They are generous for honest messages
/// and keep small what a hostile one can make a reader do; docs/wire_format.md promises them to clients.
constexpr std::size_t kMaxPayloads = 64;            ///< Distinct buffers in one message.
constexpr std::size_t kMaxRank = 16;                ///< Dimensions of one tensor.
constexpr std::size_t kMaxTopicBytes = 200;         ///< libzmq silently loses subscription names of 246-255 bytes.
constexpr std::size_t kMaxBodyBytes = 64ull << 20;  ///< Body of one message; big data rides in payloads.
constexpr std::size_t kMaxNesting = 32;             ///< Types inside types in a schema.
constexpr std::size_t kMaxSchemaBytes = 64 << 10;   ///< Text of one schema.
constexpr std::uint32_t kNoPayload = 0xffff'ffff;   ///< Payload index of a tensor without bytes.

}  // namespace trainyard
