// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard::archive {

/// Returns the content of a file. Throws kNotFound if it does not exist, kInvalidArgument if it is not a regular file,
/// kCorrupt if it is longer than `max_bytes`, and kIo if it cannot be read.
std::string read_small_file(const std::string& path, std::size_t max_bytes);

/// Writes a file atomically: readers see either the old content or the new content. Throws kIo if the file cannot be
/// written.
void write_whole_file(const std::string& path, std::string_view content);

}  // namespace trainyard::archive
