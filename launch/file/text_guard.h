#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace trainyard::launch {

// What a launch file may be at most. The TOML parser recurses once for each part of a dotted key and each bracket, and
// a long enough file overflows its stack, so the text is measured before it is parsed.
constexpr std::size_t kMaxFileBytes = 1 << 20;
constexpr std::size_t kMaxKeyBytes = 1024;  ///< Of a whole dotted key.
constexpr std::size_t kMaxKeyParts = 32;
constexpr std::size_t kMaxBrackets = 32;  ///< Arrays and inline tables inside one another.

/// The contents of a file; throws kNotFound, or kInvalidArgument for a file that is too long.
std::string read_launch_text(const std::string& path);

/// Throws kInvalidArgument, with file and line, for a key or a nesting beyond the limits. Says nothing about whether
/// the text is TOML.
void check_text_limits(std::string_view text, const std::string& file);

}  // namespace trainyard::launch
