// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard::launch {

// The limits of a launch file. The TOML parser recurses once for each part of a dotted key and each bracket, and a long
// enough file would overflow its stack, so the text is measured before it is parsed.
constexpr std::size_t kMaxFileBytes = 1 << 20;
constexpr std::size_t kMaxKeyBytes = 1024;  ///< The length of a whole dotted key.
constexpr std::size_t kMaxKeyParts = 32;
constexpr std::size_t kMaxBrackets = 32;  ///< The nesting of arrays and inline tables.

/// Reads a file. Throws kNotFound if it is missing, unreadable or a folder, and kInvalidArgument if it is too long.
std::string read_launch_text(const std::string& path);

/// Throws kInvalidArgument, with file and line, for a key or a nesting beyond the limits. It does not check whether the
/// text is TOML.
void check_text_limits(std::string_view text, const std::string& file);

}  // namespace trainyard::launch
