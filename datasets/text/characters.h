// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace trainyard::text {

/// One past the highest Unicode code point.
inline constexpr std::uint32_t kCodePoints = 0x110000;
/// What `next_code_point` returns for bytes that are not UTF-8.
inline constexpr std::uint32_t kNotUtf8 = 0xffff'ffff;

/// Returns the code point at `position`, which must be below text.size(), and moves `position` past it. For anything
/// that RFC 3629 does not allow (stray and missing continuation bytes, overlong forms, surrogates, numbers beyond
/// U+10FFFF) it returns kNotUtf8 and leaves `position` where it is.
std::uint32_t next_code_point(std::string_view text, std::size_t& position);

/// Returns the UTF-8 form of a code point below kCodePoints: 1 to 4 bytes.
std::string to_utf8(std::uint32_t code_point);

}  // namespace trainyard::text
