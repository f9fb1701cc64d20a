// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard::launch {

// The limits of a launch file. The TOML parser recurses once for each part of a dotted key and for each bracket, so
// deep nesting could overflow its stack. The text is therefore checked before it is parsed.
constexpr std::size_t kMaxFileBytes = 1 << 20;  ///< The maximum size of a file.
constexpr std::size_t kMaxKeyBytes = 1024;      ///< The maximum length of a whole dotted key.
constexpr std::size_t kMaxKeyParts = 32;        ///< The maximum number of parts in a dotted key.
constexpr std::size_t kMaxBrackets = 32;        ///< The maximum nesting depth of arrays and inline tables.

/// Returns the content of a file. Throws kNotFound if the file is missing or unreadable, and kInvalidArgument if it is
/// not a regular file or is larger than kMaxFileBytes.
std::string read_launch_text(const std::string& path);

/// Throws kInvalidArgument, with the file and the line, if a key is too long or arrays and tables are nested too
/// deeply. It does not check whether the text is valid TOML.
void check_text_limits(std::string_view text, const std::string& file);

}  // namespace trainyard::launch
