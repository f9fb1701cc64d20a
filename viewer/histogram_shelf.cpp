// SPDX-License-Identifier: Apache-2.0
#include "viewer/histogram_shelf.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "messages/error.h"
#include "messages/nearest.h"
#include "messages/printable.h"

namespace trainyard::viewer {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxTensorName = 300;
/// The largest number of a bucket that is accepted. Near larger numbers, a double could no longer represent the bounds
/// of buckets exactly.
constexpr std::int64_t kMaxFirst = std::int64_t{1} << 50;
/// The largest magnitude of values that is accepted. Larger values could overflow when they are added.
constexpr double kMaxMagnitude = 0x1p1000;

/// Returns true if the numbers of a histogram are consistent. Histograms come from untrusted sources, and inconsistent
/// numbers could lead to wrong sums or endless loops.
bool is_sound(const Histogram& histogram) {
  int exponent = 0;
  const bool power =
      std::isfinite(histogram.width) && histogram.width > 0 && std::frexp(histogram.width, &exponent) == 0.5;
  return power && histogram.counts.size() <= Histogram::kMaxBuckets && histogram.first > -kMaxFirst &&
         histogram.first < kMaxFirst &&
         (std::abs(static_cast<double>(histogram.first)) + Histogram::kMaxBuckets) * histogram.width < kMaxMagnitude &&
         std::isfinite(histogram.smallest) && std::isfinite(histogram.largest) && std::isfinite(histogram.mean) &&
         std::isfinite(histogram.deviation) && !histogram.name.empty() && histogram.name.size() <= kMaxTensorName;
}

/// Returns the number of the bucket that contains bucket `number` after the width was doubled `times` times.
std::int64_t coarser(std::int64_t number, int times) { return times >= 62 ? (number < 0 ? -1 : 0) : number >> times; }

/// A sequence of buckets of equal width. The width is a power of two, and bucket i begins at i times the width.
struct Grid {
  int exponent = 0;  ///< The exponent of the width to the base 2.
  std::int64_t first = 0;
  std::int64_t end = 0;  ///< The number of the bucket after the last one.

  static Grid of(const Histogram& histogram) {
    return {std::ilogb(histogram.width), histogram.first,
            histogram.first + static_cast<std::int64_t>(histogram.counts.size())};
  }
  /// Widens the buckets to the width 2^to, if they are narrower.
  void widen(int to) {
    const int times = std::max(to - exponent, 0);
    const bool empty = first == end;
    first = coarser(first, times);
    end = empty ? first : coarser(end - 1, times) + 1;
    exponent += times;
  }
  /// Extends this grid so that it also covers `other`. Widens the buckets if there would be more than `most` of them.
  void cover(Grid other, std::int64_t most) {
    if (other.first == other.end) return;
    if (first == end) *this = other;
    widen(other.exponent);
    other.widen(exponent);
    first = std::min(first, other.first);
    end = std::max(end, other.end);
    while (end - first > most) widen(exponent + 1);
  }
  /// Adds the counts of a histogram to `counts`. The grid must cover the histogram.
  void add(const Histogram& histogram, std::vector<std::uint64_t>& counts) const {
    const int times = exponent - std::ilogb(histogram.width);
    for (std::size_t i = 0; i < histogram.counts.size(); ++i) {
      const std::int64_t number = coarser(histogram.first + static_cast<std::int64_t>(i), times);
      counts[static_cast<std::size_t>(number - first)] += histogram.counts[i];
    }
  }
};

double squares(const Histogram& histogram, double mean) {
  const auto count = static_cast<double>(histogram.elements - histogram.not_finite);
  const double distance = histogram.mean - mean;
  return count * (histogram.deviation * histogram.deviation + distance * distance);
}

}  // namespace

void add_to(Histogram& sum, const Histogram& other) {
  const auto finite = [](const Histogram& each) { return static_cast<double>(each.elements - each.not_finite); };
  const double count = finite(sum) + finite(other);
  if (finite(other) > 0) {
    const bool first = finite(sum) == 0;
    const double mean = (finite(sum) * sum.mean + finite(other) * other.mean) / count;
    const double deviation = std::sqrt((squares(sum, mean) + squares(other, mean)) / count);
    sum.smallest = first ? other.smallest : std::min(sum.smallest, other.smallest);
    sum.largest = first ? other.largest : std::max(sum.largest, other.largest);
    sum.mean = mean;
    sum.deviation = deviation;
    Grid grid = Grid::of(sum);
    grid.cover(Grid::of(other), Histogram::kMaxBuckets);
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(grid.end - grid.first));
    if (!sum.counts.empty()) grid.add(sum, counts);
    grid.add(other, counts);
    sum.width = std::ldexp(1.0, grid.exponent);
    sum.first = grid.first;
    sum.counts = std::move(counts);
  }
  sum.elements += other.elements;
  sum.not_finite += other.not_finite;
}

bool HistogramShelf::add(const Histograms& message) {
  if (!known_.emplace(message.time_ns, message.rank).second) return false;
  // The oldest entries can be removed, because the second source delivers a message at most a few seconds after the
  // first.
  if (known_.size() > 10'000) known_.erase(known_.begin());
  const std::size_t most = std::min(message.histograms.size(), Histograms::kMaxHistograms);
  for (std::size_t i = 0; i < most; ++i) {
    Histogram histogram = message.histograms[i];
    histogram.name = printable_line(histogram.name);
    const Key key(histogram.of, histogram.name);
    if (!is_sound(histogram) || histogram.not_finite > histogram.elements) continue;
    if (!series_.contains(key) && series_.size() >= kMaxSeries) continue;
    const auto [place, fresh] = series_[key].try_emplace(message.step);
    auto& [sum, ranks] = place->second;
    if (ranks.add(message.rank, message.ranks)) {
      add_to(sum, histogram);
    } else {
      sum = std::move(histogram);
    }
    entries_ += fresh ? 1 : 0;
  }
  while (entries_ > kMaxEntries) thin_out();
  ++revision_;
  last_step_ = std::max(last_step_, message.step);
  return true;
}

void HistogramShelf::thin_out() {
  entries_ = 0;
  for (auto& [key, steps] : series_) {
    bool drop = false;
    std::erase_if(steps, [&](const auto&) { return std::exchange(drop, !drop); });
    entries_ += steps.size();
  }
  // There are so many tensors that even one step of each tensor is too much.
  if (entries_ > kMaxEntries) {
    series_.clear();
    entries_ = 0;
  }
}

void HistogramShelf::append_news(std::uint64_t& position, std::vector<json>& news) const {
  if (std::exchange(position, revision_) != revision_) news.push_back({{"push", "histograms"}, {"step", last_step_}});
}

json HistogramShelf::list() const {
  json list = json::array();
  for (const auto& [key, steps] : series_) {
    const auto& [step, last] = *steps.rbegin();
    list.push_back({{"of", name_of(key.first)},
                    {"name", key.second},
                    {"steps", steps.size()},
                    {"last_step", step},
                    {"elements", last.sum.elements}});
  }
  return list;
}

json HistogramShelf::series(HistogramOf of, const std::string& name, std::size_t buckets) const {
  const auto found = series_.find(Key(of, name));
  if (found == series_.end()) {
    std::vector<std::string> known;
    for (const auto& [key, steps] : series_) {
      if (key.first == of) known.push_back(key.second);
    }
    throw Error(Code::kNotFound, "the run has no histogram of {} named '{}'{}", name_of(of), name,
                suggestion(name, known));
  }
  Grid grid;
  for (const auto& [step, entry] : found->second) grid.cover(Grid::of(entry.sum), static_cast<std::int64_t>(buckets));
  json answer{{"of", name_of(of)}, {"name", name}, {"first", grid.first}, {"width", std::ldexp(1.0, grid.exponent)}};
  for (const char* key : {"steps", "counts", "smallest", "largest", "mean", "deviation", "elements", "not_finite"}) {
    answer[key] = json::array();
  }
  for (const auto& [step, entry] : found->second) {
    const Histogram& histogram = entry.sum;
    std::vector<std::uint64_t> counts(static_cast<std::size_t>(grid.end - grid.first));
    if (!histogram.counts.empty()) grid.add(histogram, counts);
    answer["steps"].push_back(step);
    answer["counts"].push_back(std::move(counts));
    answer["smallest"].push_back(histogram.smallest);
    answer["largest"].push_back(histogram.largest);
    answer["mean"].push_back(histogram.mean);
    answer["deviation"].push_back(histogram.deviation);
    answer["elements"].push_back(histogram.elements);
    answer["not_finite"].push_back(histogram.not_finite);
  }
  return answer;
}

}  // namespace trainyard::viewer
