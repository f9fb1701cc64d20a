// SPDX-License-Identifier: Apache-2.0
#include "components/logger/validation_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <numeric>

#include "images/png.h"

namespace trainyard {
namespace {

constexpr std::size_t kMaxTableClasses = 32;
/// Small matrices are enlarged to about this width in pixels.
constexpr std::size_t kImageSide = 256;

bool is_square(const Confusion& confusion) {
  const std::size_t classes = confusion.classes.size();
  return classes > 0 && classes <= Confusion::kMaxClasses && confusion.counts.size() == classes * classes;
}

/// Escapes the characters of a name that have a meaning in Markdown.
std::string cell(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '`' || c == '*' || c == '_' || c == '<') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

}  // namespace

std::optional<SizedImage> picture_of(const Confusion& confusion) {
  if (!is_square(confusion)) return {};
  const std::size_t classes = confusion.classes.size(), scale = std::max<std::size_t>(kImageSide / classes, 1);
  const auto side = static_cast<std::uint32_t>(classes * scale);
  images::Pixels pixels{.width = side, .height = side, .channels = 1, .bytes = {}};
  for (std::size_t y = 0; y < side; ++y) {
    const auto row = confusion.counts.begin() + static_cast<std::ptrdiff_t>(y / scale * classes);
    const auto total = std::accumulate(row, row + static_cast<std::ptrdiff_t>(classes), std::uint64_t{0});
    for (std::size_t x = 0; x < side; ++x) {
      const auto count = static_cast<double>(row[static_cast<std::ptrdiff_t>(x / scale)]);
      const double share = total == 0 ? 0 : count / static_cast<double>(total);
      pixels.bytes.push_back(static_cast<std::uint8_t>(std::lround(255 * (1 - share))));
    }
  }
  return SizedImage{side, side, images::png_of(pixels)};
}

std::string table_of(const Confusion& confusion) {
  const std::size_t classes = confusion.classes.size();
  if (!is_square(confusion) || classes > kMaxTableClasses) return {};
  std::string head = "| right \\ predicted |", line = "|---|", rows;
  for (std::size_t right = 0; right < classes; ++right) {
    head += fmt::format(" {} |", cell(confusion.classes[right]));
    line += "---|";
    rows += fmt::format("| **{}** |", cell(confusion.classes[right]));
    for (std::size_t i = 0; i < classes; ++i) rows += fmt::format(" {} |", confusion.counts[right * classes + i]);
    rows += "\n";
  }
  return head + "\n" + line + "\n" + rows;
}

std::string table_of(const SampleResults& samples) {
  std::string table = "| sample | right | predicted | probability |\n|---|---|---|---|\n";
  for (const SampleResult& sample : samples.samples) {
    const char* mark = sample.right == sample.predicted ? "" : "**";
    fmt::format_to(std::back_inserter(table), "| {0} | {2} | {1}{3}{1} | {4:.3f} |\n", sample.index, mark,
                   cell(sample.right), cell(sample.predicted), sample.probability);
  }
  return table;
}

std::optional<Confusion> ConfusionSum::add(const Confusion& confusion) {
  auto place = std::ranges::find_if(open_, [&](const Open& open) {
    return open.sum.step == confusion.step && open.sum.split == confusion.split &&
           open.sum.counts.size() == confusion.counts.size() && !open.ranks.contains(confusion.rank);
  });
  if (place == open_.end()) {
    if (open_.size() == kMostOpen) open_.pop_front();
    place = open_.insert(open_.end(), {confusion, {}});
  } else {
    std::ranges::transform(place->sum.counts, confusion.counts, place->sum.counts.begin(), std::plus<>());
  }
  place->ranks.insert(confusion.rank);
  if (place->ranks.size() < confusion.ranks) return {};
  Confusion sum = std::move(place->sum);
  open_.erase(place);
  return sum;
}

}  // namespace trainyard
