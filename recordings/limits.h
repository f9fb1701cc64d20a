// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace trainyard::recordings {

/// The limits in this header bound the memory that an MCAP file can make a reader allocate. A reader throws an Error
/// for a file that exceeds one of them.
constexpr std::uint64_t kMostChunkBytes = 256ull << 20;    ///< The limit for the decompressed records of one chunk.
constexpr std::uint64_t kMostMessageBytes = 128ull << 20;  ///< The limit for the data of one message.
/// The limit for the decompressed records of all chunks that must be in memory together because their times overlap.
constexpr std::uint64_t kMostOpenBytes = 512ull << 20;
/// The limit for everything that a reader keeps in memory for the whole file: schemas, channels, metadata and the
/// index.
constexpr std::uint64_t kMostDescriptionBytes = 256ull << 20;
constexpr std::uint64_t kMostMetadataBytes = 16ull << 20;  ///< The limit for one schema, channel or metadata record.

}  // namespace trainyard::recordings
