// SPDX-License-Identifier: Apache-2.0
#include "environments/host_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>

#include "environments/allocation.h"
#include "environments/host_name.h"
#include "environments/variable_reader.h"
#include "messages/error.h"

namespace trainyard::environments {
namespace {

constexpr std::size_t kLongestList = std::size_t{1} << 20;
constexpr std::uint32_t kLargestNumber = 999'999'999;
// The largest number of bracket pairs in one name; Slurm itself allows fewer. Without a limit, a hostile list with very
// many brackets could take very long to expand.
constexpr std::size_t kMostBrackets = 8;

[[noreturn]] void refuse(const std::string& where, std::string_view item, std::string_view reason) {
  throw Error(Code::kInvalidArgument, "{}: the list of hosts contains {}: {}", where, shown(item), reason);
}

/// Splits a list at the commas that are not in brackets.
std::vector<std::string_view> split_items(std::string_view list, const std::string& where) {
  std::vector<std::string_view> items;
  bool inside = false;
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    const char c = i == list.size() ? ',' : list[i];
    if (c == '[' && inside) refuse(where, list.substr(begin), "a bracket within brackets");
    if (c == ']' && !inside) refuse(where, list.substr(begin), "a bracket that closes none");
    if (c == '[' || c == ']') inside = c == '[';
    if (c != ',' || (inside && i != list.size())) continue;
    if (inside) refuse(where, list.substr(begin), "a bracket that is not closed");
    items.push_back(list.substr(begin, i - begin));
    begin = i + 1;
  }
  return items;
}

/// One range in brackets, such as "08-10"; a single number is a range of one.
struct Range {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
  std::size_t width = 0;  ///< The number of digits to which numbers are padded with zeros.

  std::size_t count() const { return std::size_t{last} - first + 1; }
};

Range parse_range(std::string_view text, std::string_view item, const std::string& where) {
  const std::size_t dash = text.find('-');
  const std::string_view low = text.substr(0, dash), high = dash == text.npos ? low : text.substr(dash + 1);
  const std::optional<std::uint32_t> first = parse_number(low, 0, kLargestNumber);
  const std::optional<std::uint32_t> last = parse_number(high, 0, kLargestNumber);
  // Leading zeros make names longer without changing the number, so the number of digits is limited, too.
  if (!first || !last || low.size() > 20) refuse(where, item, "ranges of numbers such as [0-3,7] are allowed");
  if (*first > *last) refuse(where, item, "a range whose end is before its beginning");
  return {*first, *last, low.size()};
}

/// A piece of a name: a fixed text and the ranges in the brackets after the text, if any.
struct Piece {
  std::string_view text;
  std::vector<Range> ranges;

  std::size_t count() const {
    std::size_t sum = ranges.empty() ? 1 : 0;
    for (const Range& range : ranges) sum += range.count();
    return sum;
  }
};

std::vector<Range> parse_brackets(std::string_view text, std::string_view item, const std::string& where) {
  std::vector<Range> ranges;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    ranges.push_back(parse_range(text.substr(begin, end - begin), item, where));
    if (ranges.size() > kMostHosts) refuse(where, item, "too many ranges");
    begin = end + 1;
  }
  return ranges;
}

std::vector<Piece> parse_item(std::string_view item, const std::string& where) {
  std::vector<Piece> pieces;
  std::string_view rest = item;
  while (!rest.empty()) {
    const std::size_t open = rest.find('[');
    Piece piece{rest.substr(0, open), {}};
    if (open != rest.npos) {
      const std::size_t close = rest.find(']', open);
      piece.ranges = parse_brackets(rest.substr(open + 1, close - open - 1), item, where);
      rest = rest.substr(close + 1);
    } else {
      rest = {};
    }
    pieces.push_back(std::move(piece));
    if (pieces.size() > kMostBrackets + 1) refuse(where, item, "too many brackets");
  }
  return pieces;
}

/// Appends all names that consist of `prefix`, followed by a text for each piece from `piece` to `end`.
void append(std::vector<std::string>& names, const std::string& prefix, const Piece* piece, const Piece* end) {
  if (piece == end) {
    names.push_back(prefix);
    return;
  }
  const std::string begin = prefix + std::string(piece->text);
  if (piece->ranges.empty()) return append(names, begin, piece + 1, end);
  for (const Range& range : piece->ranges) {
    for (std::uint32_t i = range.first; i <= range.last; ++i) {
      append(names, begin + fmt::format("{:0{}}", i, range.width), piece + 1, end);
    }
  }
}

}  // namespace

std::vector<std::string> expand_host_list(std::string_view list, const std::string& where) {
  if (list.size() > kLongestList) {
    throw Error(Code::kInvalidArgument, "{}: the list of hosts has {} bytes; at most {} are allowed", where,
                list.size(), kLongestList);
  }
  std::vector<std::string> names;
  for (const std::string_view item : split_items(list, where)) {
    if (item.empty()) refuse(where, list, "an empty name");
    const std::vector<Piece> pieces = parse_item(item, where);
    std::size_t count = 1;
    for (const Piece& piece : pieces) count = std::min<std::size_t>(count * piece.count(), kMostHosts + 1);
    if (names.size() + count > kMostHosts) refuse(where, item, fmt::format("more than {} hosts", kMostHosts));
    append(names, "", pieces.data(), pieces.data() + pieces.size());
    check_host_name(names.back(), where);
  }
  return names;
}

}  // namespace trainyard::environments
