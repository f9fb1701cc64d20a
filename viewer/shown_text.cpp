// SPDX-License-Identifier: Apache-2.0
#include "viewer/shown_text.h"

#include "messages/printable.h"

namespace trainyard::viewer {
namespace {

constexpr std::size_t kMaxText = 64u << 10;

std::string bounded(std::string_view text) {
  std::string shown(text.substr(0, kMaxText));
  if (text.size() > kMaxText) shown += " ...";
  return shown;
}

}  // namespace

std::string shown_text(std::string_view text) { return printable(bounded(text)); }
std::string shown_line(std::string_view text) { return printable_line(bounded(text)); }

}  // namespace trainyard::viewer
