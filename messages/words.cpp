// SPDX-License-Identifier: Apache-2.0
#include "messages/words.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "messages/nearest.h"

namespace trainyard {

std::string describe_unknown_word(std::string_view given, std::string_view noun,
                                  std::span<const std::string_view> known) {
  // The word may come from an untrusted source, so it is shortened, and characters that could control a terminal are
  // replaced.
  std::string shown(given.substr(0, 200));
  std::ranges::replace_if(
      shown, [](unsigned char c) { return c < 0x20 || c > 0x7e; }, '?');
  return fmt::format("unknown {} '{}'{}", noun, shown, suggestion(given, {known.begin(), known.end()}));
}

}  // namespace trainyard
