// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::text {

/// The number of Unicode code points, which is one more than the highest code point.
inline constexpr std::uint32_t kCodePoints = 0x110000;
/// The value that next_code_point() returns for bytes that are not UTF-8.
inline constexpr std::uint32_t kNotUtf8 = 0xffff'ffff;

/// Returns the code point at `position`, and advances `position` past it. `position` must be less than text.size(). For
/// bytes that RFC 3629 does not allow, returns kNotUtf8 and does not change `position`. Examples are stray continuation
/// bytes, sequences that are cut off, overlong forms, surrogates, and numbers beyond U+10FFFF.
std::uint32_t next_code_point(std::string_view text, std::size_t& position);

/// Returns the UTF-8 encoding of a code point, in 1 to 4 bytes. `code_point` must be less than kCodePoints.
std::string to_utf8(std::uint32_t code_point);

}  // namespace trainyard::text
