#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard {

/// One past the highest Unicode code point.
inline constexpr std::uint32_t kCodePoints = 0x110000;
/// What `next_code_point` gives for bytes that are not UTF-8.
inline constexpr std::uint32_t kNotUtf8 = 0xffff'ffff;

/// The code point at `position`, which moves past it; kNotUtf8, without moving, for anything that RFC 3629 does not
/// allow: stray and missing continuation bytes, overlong forms, surrogates, beyond U+10FFFF. `position` < text.size().
std::uint32_t next_code_point(std::string_view text, std::size_t& position);

/// The UTF-8 form of a code point, 1 to 4 bytes. `code_point` < kCodePoints.
std::string to_utf8(std::uint32_t code_point);

}  // namespace trainyard
