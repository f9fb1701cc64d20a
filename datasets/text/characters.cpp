// SPDX-License-Identifier: Apache-2.0
#include "datasets/text/characters.h"

namespace trainyard::text {
namespace {

/// What the first byte of a UTF-8 sequence determines: the number of bytes, the first bits of the code point, and the
/// smallest code point for which a sequence may have this length.
struct Lead {
  std::size_t length;
  std::uint32_t bits;
  std::uint32_t smallest;
};

/// Interprets the first byte of a UTF-8 sequence. The length of the result is 0 if no sequence can begin with this
/// byte.
Lead lead_of(unsigned char byte) {
  if (byte < 0x80) return {1, byte, 0};
  if ((byte & 0xe0) == 0xc0) return {2, byte & 0x1fu, 0x80};
  if ((byte & 0xf0) == 0xe0) return {3, byte & 0x0fu, 0x800};
  if ((byte & 0xf8) == 0xf0) return {4, byte & 0x07u, 0x10000};
  return {0, 0, 0};
}

/// Returns true for halves of UTF-16 pairs, which are not characters and must not appear in UTF-8.
bool is_surrogate(std::uint32_t code) { return code >= 0xd800 && code < 0xe000; }

}  // namespace

std::uint32_t next_code_point(std::string_view text, std::size_t& position) {
  const Lead lead = lead_of(static_cast<unsigned char>(text[position]));
  if (lead.length == 0 || lead.length > text.size() - position) return kNotUtf8;
  std::uint32_t code = lead.bits;
  for (std::size_t i = 1; i < lead.length; ++i) {
    const auto byte = static_cast<unsigned char>(text[position + i]);
    if ((byte & 0xc0) != 0x80) return kNotUtf8;
    code = code << 6 | (byte & 0x3fu);
  }
  // A code point that is too small for the length of the sequence is an overlong form, which UTF-8 forbids.
  if (code < lead.smallest || code >= kCodePoints || is_surrogate(code)) return kNotUtf8;
  position += lead.length;
  return code;
}

std::string to_utf8(std::uint32_t code) {
  const auto continuation = [code](int shift) { return static_cast<char>(0x80 | (code >> shift & 0x3f)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0 | code >> 6), continuation(0)};
  if (code < 0x10000) return {static_cast<char>(0xe0 | code >> 12), continuation(6), continuation(0)};
  return {static_cast<char>(0xf0 | code >> 18), continuation(12), continuation(6), continuation(0)};
}

}  // namespace trainyard::text
