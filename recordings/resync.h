// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "recordings/files.h"

namespace trainyard::recordings {

/// Returns where the first chunk record at or after `from` begins, or the size of the file if there is none. A chunk is
/// recognised by the lengths in it, which must fit together, so other bytes are very unlikely to be taken for one.
std::uint64_t find_chunk(const InputFile& file, std::uint64_t from);

}  // namespace trainyard::recordings
