// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "recordings/files.h"

namespace trainyard::recordings {

/// Returns the position of the first chunk record at or after the position `from`, or the size of the file if there is
/// none. A chunk record is recognised by the lengths in it, which must be consistent, so other bytes are very unlikely
/// to be mistaken for a chunk record.
std::uint64_t find_chunk(const InputFile& file, std::uint64_t from);

}  // namespace trainyard::recordings
