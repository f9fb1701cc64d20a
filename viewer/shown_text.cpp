// SPDX-License-Identifier: Apache-2.0
#include "viewer/shown_text.h"

#include "messages/printable.h"

namespace trainyard::viewer {
namespace {

constexpr std::size_t kMaxText = 64u << 10;

std::string bounded(std::string_view text) {
  if (text.size() <= kMaxText) return std::string(text);
  std::string shown(text.substr(0, kMaxText));
  shown += " ...";  // Not operator+, of which gcc 12 believes that it copies out of bounds.
  return shown;
}

}  // namespace

std::string shown_text(std::string_view text) { return printable(bounded(text)); }
std::string shown_line(std::string_view text) { return printable_line(bounded(text)); }

}  // namespace trainyard::viewer
