// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace trainyard::recordings {

/// The limits on what a file can make a reader allocate. A file that exceeds one of them is refused as corrupt. This
/// one is for the records of one chunk, after decompression.
constexpr std::uint64_t kMostChunkBytes = 256ull << 20;    ///< The records of one chunk, when decompressed.
constexpr std::uint64_t kMostMessageBytes = 128ull << 20;  ///< The limit for the data of one message.
/// Chunks whose times overlap, so that they must be in memory together, when decompressed.
constexpr std::uint64_t kMostOpenBytes = 512ull << 20;
/// Everything that a reader keeps for the whole file: schemas, channels, metadata and the index.
constexpr std::uint64_t kMostDescriptionBytes = 256ull << 20;
constexpr std::uint64_t kMostMetadataBytes = 16ull << 20;  ///< The limit for one schema, channel or metadata record.

}  // namespace trainyard::recordings
