// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/topic_statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace trainyard::tools {
namespace {

constexpr double kNanoseconds = 1e9;

/// Computes the mean and the standard deviation of weighted values in one pass, with Welford's numerically stable
/// method.
class Accumulator {
 public:
  void add(double value, double weight) {
    weight_ += weight;
    const double step = value - mean_;
    mean_ += step * weight / weight_;
    squares_ += weight * step * (value - mean_);
    min_ = std::min(min_, value);
    max_ = std::max(max_, value);
  }
  double weight() const { return weight_; }
  Spread spread() const { return {mean_, min_, max_, std::sqrt(squares_ / weight_)}; }

 private:
  double weight_ = 0;
  double mean_ = 0;
  double squares_ = 0;
  double min_ = std::numeric_limits<double>::infinity();
  double max_ = -std::numeric_limits<double>::infinity();
};

/// The newest message of a source, and the number of messages and seconds from the first message of the source in the
/// window to this message.
struct SourceSpan {
  const MessageRecord* newest = nullptr;
  double messages = 0;
  double seconds = 0;
};

/// Makes `record` the newest message of the source, and adds the intervals since the previous message to `intervals`.
void extend(SourceSpan& span, const MessageRecord& record, Accumulator& intervals) {
  // If the source was started again or its clock was set back, there is no interval between the two messages.
  const bool follows =
      span.newest != nullptr && record.sequence > span.newest->sequence && record.sent_ns >= span.newest->sent_ns;
  if (follows) {
    const double messages = static_cast<double>(record.sequence - span.newest->sequence);
    const double seconds = static_cast<double>(record.sent_ns - span.newest->sent_ns) / kNanoseconds;
    intervals.add(seconds / messages, messages);
    span.messages += messages;
    span.seconds += seconds;
  }
  span.newest = &record;
}

/// Returns the smallest value that is greater than or equal to the fraction `share` of the values.
double percentile(std::vector<double>& values, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::max<std::size_t>(rank, 1) - 1);
  std::ranges::nth_element(values, at);
  return *at;
}

}  // namespace

std::optional<Rate> rate_of(const std::deque<MessageRecord>& records) {
  std::map<std::pair<std::size_t, std::uint32_t>, SourceSpan> sources;
  Accumulator intervals;
  for (const MessageRecord& record : records) extend(sources[record.source], record, intervals);
  Rate rate;
  for (const auto& [source, span] : sources) {
    if (span.seconds > 0) rate.hz += span.messages / span.seconds;
  }
  if (rate.hz == 0) return std::nullopt;
  rate.interval_s = intervals.spread();
  return rate;
}

std::optional<Bandwidth> bandwidth_of(const std::deque<MessageRecord>& records) {
  const std::optional<Rate> rate = rate_of(records);
  if (!rate) return std::nullopt;
  Accumulator bodies, tensors, messages;
  for (const MessageRecord& record : records) {
    bodies.add(static_cast<double>(record.body_bytes), 1);
    tensors.add(static_cast<double>(record.tensor_bytes), 1);
    messages.add(static_cast<double>(record.body_bytes + record.tensor_bytes), 1);
  }
  // Missed messages are assumed to have the mean size of the messages that arrived.
  return Bandwidth{rate->hz, rate->hz * bodies.spread().mean, rate->hz * tensors.spread().mean, messages.spread()};
}

std::optional<Delay> delay_of(const std::deque<MessageRecord>& records, std::int64_t since_ns) {
  std::vector<double> delays;
  for (const MessageRecord& record : records) {
    if (record.sent_ns < since_ns) continue;
    delays.push_back(static_cast<double>(record.arrived_ns - record.sent_ns) / kNanoseconds);
  }
  if (delays.empty()) return std::nullopt;
  const double sum = std::accumulate(delays.begin(), delays.end(), 0.0);
  const auto [min, max] = std::ranges::minmax(delays);
  return Delay{sum / static_cast<double>(delays.size()), min, max, percentile(delays, 0.5), percentile(delays, 0.99)};
}

}  // namespace trainyard::tools
