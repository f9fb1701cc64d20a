// SPDX-License-Identifier: Apache-2.0
#include "messages/nearest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace trainyard {
namespace {

/// The optimal string alignment distance: insertions, deletions, substitutions and swaps of neighbours cost one each.
std::size_t distance(std::string_view a, std::string_view b) {
  // Three rows of the table are enough, because a swap looks back two.
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(above.begin(), above.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t differs = a[i - 1] == b[j - 1] ? 0 : 1;
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + differs});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::string nearest(std::string_view given, std::span<const std::string> known) {
  const std::string* best = nullptr;
  // Two mistakes are allowed in a short word, and mistakes in a third of the letters in a long word. If there are more,
  // a suggestion would be a mere guess.
  std::size_t best_distance = std::max<std::size_t>(2, given.size() / 3) + 1;
  for (const std::string& name : known) {
    // The time grows with the product of both lengths, and `given` may have any length, so only its beginning is
    // compared.
    const std::size_t d = distance(given.substr(0, 200), name);
    if (d < best_distance) {
      best = &name;
      best_distance = d;
    }
  }
  if (best != nullptr) return *best;
  // An abbreviation leaves out more letters than this distance allows, so a name that begins with `given` is suggested,
  // too.
  const auto begins = [given](const std::string& name) { return name.starts_with(given); };
  const auto full = std::ranges::find_if(known, begins);
  return given.size() < 3 || full == known.end() ? "" : *full;
}

std::string suggestion(std::string_view given, std::vector<std::string> known) {
  if (known.empty()) return "; none is known";
  std::ranges::sort(known);
  // Not std::ranges::unique, which clang 14 cannot compile with the library of gcc 12.
  known.erase(std::unique(known.begin(), known.end()), known.end());
  const std::string meant = nearest(given, known);
  const std::string list = fmt::format("known: {}", fmt::join(known, ", "));
  return meant.empty() ? "; " + list : fmt::format("; did you mean '{}'? {}", meant, list);
}

}  // namespace trainyard
