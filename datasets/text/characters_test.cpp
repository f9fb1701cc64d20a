// SPDX-License-Identifier: Apache-2.0
#include "datasets/text/characters.h"

#include <gtest/gtest.h>

#include <codecvt>
#include <locale>

namespace trainyard::text {
namespace {

/// Converts with the standard library, for comparison.
std::string standard_utf8(char32_t code) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  return std::wstring_convert<std::codecvt_utf8<char32_t>, char32_t>().to_bytes(code);
#pragma GCC diagnostic pop
}

TEST(CharactersTest, EveryCodePointReadsBackAndLooksAsTheStandardLibraryWritesIt) {
  for (std::uint32_t code = 0; code < kCodePoints; code += code < 0x1000 ? 1 : 13) {
    if (code >= 0xd800 && code < 0xe000) continue;  // Surrogates are not characters.
    const std::string text = to_utf8(code);
    ASSERT_EQ(text, standard_utf8(code)) << code;
    std::size_t position = 0;
    ASSERT_EQ(next_code_point(text, position), code);
    ASSERT_EQ(position, text.size());
  }
}

TEST(CharactersTest, APositionDoesNotMoveOverWhatIsNotUtf8) {
  const std::string text = "a\xff";
  std::size_t position = 1;
  EXPECT_EQ(next_code_point(text, position), kNotUtf8);
  EXPECT_EQ(position, 1u);
}

TEST(CharactersTest, NoTwoByteSequenceIsReadAsACharacterBelowItsRange) {
  for (int lead = 0xc0; lead < 0xe0; ++lead) {
    for (int next = 0; next < 0x100; ++next) {
      const std::string text{static_cast<char>(lead), static_cast<char>(next)};
      std::size_t position = 0;
      const std::uint32_t code = next_code_point(text, position);
      const bool allowed = lead >= 0xc2 && next >= 0x80 && next < 0xc0;
      ASSERT_EQ(code != kNotUtf8, allowed) << lead << " " << next;
    }
  }
}

}  // namespace
}  // namespace trainyard::text
