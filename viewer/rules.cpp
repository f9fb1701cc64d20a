// SPDX-License-Identifier: Apache-2.0
#include "viewer/rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "messages/printable.h"

namespace trainyard::viewer {
namespace {

/// The largest number of names that a rule keeps. Names come from untrusted sources, so their number must be limited.
constexpr std::size_t kMaxNames = 1000;

const Scalar* loss_of_training(const Metrics& metrics) {
  if (metrics.stage != "train") return nullptr;
  const auto found = std::ranges::find(metrics.values, "loss", &Scalar::name);
  return found == metrics.values.end() ? nullptr : &*found;
}

}  // namespace

void NanRule::on_metrics(const Metrics& metrics) {
  for (const Scalar& scalar : metrics.values) {
    const std::string key = metrics.stage + "/" + scalar.name;
    if (std::isfinite(scalar.value)) {
      open_.erase(key);
    } else if (open_.size() < kMaxNames && open_.insert(key).second) {
      raise({metrics.time_ns, metrics.step, AlertKind::kNan, Severity::kError,
             printable_line(fmt::format("{} is {} at step {}", key,
                                        std::isnan(scalar.value) ? "not a number" : "infinite", metrics.step))});
    }
  }
}

void SpikeRule::on_metrics(const Metrics& metrics) {
  const Scalar* loss = loss_of_training(metrics);
  if (loss == nullptr || !std::isfinite(loss->value)) return;
  constexpr std::uint64_t kWarmUp = 50;
  constexpr double kWeight = 0.02;
  constexpr int kNewNormal = 50;
  const double over = loss->value - mean_;
  const bool above = seen_ >= kWarmUp && over > 6 * std::sqrt(variance_) && over > 0.5 * std::abs(mean_);
  if (above && above_++ == 0) {
    raise({metrics.time_ns, metrics.step, AlertKind::kSpike, Severity::kWarning,
           fmt::format("the training loss rose to {:.4g} at step {}; it was about {:.4g} before", loss->value,
                       metrics.step, mean_)});
  }
  // High values do not change the mean with which they are compared. But after kNewNormal consecutive high values, they
  // count as the new level, and the rule begins again.
  if (above && above_ < kNewNormal) return;
  if (above) seen_ = 0;
  above_ = 0;
  const double weight = std::max(kWeight, 1.0 / static_cast<double>(++seen_));  // The first value replaces the mean.
  mean_ += weight * over;
  variance_ = (1 - weight) * (variance_ + weight * over * over);
}

void PlateauRule::on_metrics(const Metrics& metrics) {
  const Scalar* loss = loss_of_training(metrics);
  if (loss == nullptr || !std::isfinite(loss->value)) return;
  sum_ += loss->value;
  if (++count_ < kWindow) return;
  const double mean = sum_ / kWindow;
  sum_ = 0;
  count_ = 0;
  const bool flat = has_before_ && before_ > 0 && mean > before_ * 0.999;
  if (flat && !open_) {
    raise({metrics.time_ns, metrics.step, AlertKind::kPlateau, Severity::kWarning,
           fmt::format("the training loss no longer falls: {:.4g} in the last {} reports, {:.4g} in the {} before",
                       mean, kWindow, before_, kWindow)});
  }
  open_ = flat;
  before_ = mean;
  has_before_ = true;
}

void SlowRankRule::on_rank(const RankMetrics& metrics) {
  const auto& values = metrics.metrics.values;
  const auto found = std::ranges::find(values, "throughput", &Scalar::name);
  if (metrics.metrics.stage != "train" || found == values.end() || !std::isfinite(found->value)) return;
  if (throughput_.size() >= kMaxNames && !throughput_.contains(metrics.rank)) return;
  throughput_[metrics.rank] = found->value;
  if (throughput_.size() < 2) return;
  std::vector<double> all;
  for (const auto& [rank, each] : throughput_) all.push_back(each);
  // With two ranks, this is the faster one.
  std::ranges::nth_element(all, all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2));
  const double median = all[all.size() / 2];
  int& slow = slow_[metrics.rank];
  slow = found->value < 0.7 * median ? slow + 1 : 0;
  if (slow != 5) return;
  raise({metrics.metrics.time_ns, metrics.metrics.step, AlertKind::kSlowRank, Severity::kWarning,
         fmt::format("rank {} is slow: {:.4g} units per second, {:.4g} in the median", metrics.rank, found->value,
                     median)});
}

void DiskRule::on_poll(const Poll& poll) {
  if (poll.free_bytes == 0) return;
  const int level = poll.free_bytes < (256ull << 20) ? 2 : poll.free_bytes < (2ull << 30) ? 1 : 0;
  if (level > level_) {
    raise({poll.time_ns, poll.step, AlertKind::kDisk, level == 2 ? Severity::kError : Severity::kWarning,
           fmt::format("only {} MiB are free where the run writes", poll.free_bytes >> 20)});
  }
  level_ = level;
}

void DroppedRule::on_poll(const Poll& poll) {
  for (const auto& [edge, dropped] : poll.dropped) {
    if (dropped == 0 || known_.size() >= kMaxNames || !known_.insert(edge).second) continue;
    raise(
        {poll.time_ns, poll.step, AlertKind::kDropped, Severity::kWarning,
         printable_line(fmt::format("the edge {} has dropped {} message{}", edge, dropped, dropped == 1 ? "" : "s"))});
  }
}

std::vector<std::unique_ptr<Rule>> all_rules(const Rule::Raise& raise) {
  std::vector<std::unique_ptr<Rule>> rules;
  rules.push_back(std::make_unique<NanRule>(raise));
  rules.push_back(std::make_unique<SpikeRule>(raise));
  rules.push_back(std::make_unique<PlateauRule>(raise));
  rules.push_back(std::make_unique<SlowRankRule>(raise));
  rules.push_back(std::make_unique<DiskRule>(raise));
  rules.push_back(std::make_unique<DroppedRule>(raise));
  return rules;
}

}  // namespace trainyard::viewer
