// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/metrics_merger.h"

#include <algorithm>
#include <utility>

#include "messages/error.h"

namespace trainyard::manager {

// Entries of a stage become complete in their order: a rank that has reported a later entry is past the earlier ones.

void MetricsMerger::add(const RankMetrics& metrics) {
  if (metrics.rank >= ranks_) {
    throw Error(Code::kInvalidArgument, "metrics of rank {} came ('{}', step {}); there are {} ranks", metrics.rank,
                metrics.metrics.stage, metrics.metrics.step, ranks_);
  }
  Rank& rank = known_[metrics.rank];
  rank.reached = std::max(rank.reached, metrics.metrics.step);
  rank.totals.samples = std::max(rank.totals.samples, metrics.metrics.samples);
  rank.totals.units = std::max(rank.totals.units, metrics.metrics.units);
  Stage& stage = stages_[metrics.metrics.stage];
  if (is_late(stage, metrics)) {
    ++late_;
    return;
  }
  Entry& entry = entry_for(stage, metrics);
  entry.ranks[metrics.rank] = metrics;
  entry.head.total_steps = std::max(entry.head.total_steps, metrics.metrics.total_steps);
  entry.head.time_ns = std::max(entry.head.time_ns, metrics.metrics.time_ns);
}

bool MetricsMerger::is_late(const Stage& stage, const RankMetrics& metrics) const {
  if (!stage.began || metrics.metrics.step > stage.step) return false;
  return metrics.metrics.step < stage.step || stage.without.contains(metrics.rank);
}

// Returns the first entry of the step that the rank has not reported yet. Makes a new entry if there is none.
MetricsMerger::Entry& MetricsMerger::entry_for(Stage& stage, const RankMetrics& metrics) {
  const std::uint64_t step = metrics.metrics.step;
  auto place = stage.open.begin();
  for (; place != stage.open.end() && place->head.step <= step; ++place) {
    if (place->head.step == step && !place->ranks.contains(metrics.rank)) return *place;
  }
  Entry& entry = *stage.open.emplace(place);
  entry.head = metrics.metrics;
  entry.head.values.clear();
  return entry;
}

void MetricsMerger::answered(const OrderDone& done) {
  if (done.rank >= ranks_) {
    throw Error(Code::kInternal, "rank {} has answered order {}; there are {} ranks", done.rank, done.order, ranks_);
  }
  Rank& rank = known_[done.rank];
  if (rank.answers.size() == 2) {
    rank.reached = std::max(rank.reached, rank.answers.front());
    rank.answers.erase(rank.answers.begin());
  }
  rank.answers.push_back(done.step);
}

void MetricsMerger::finish() { finished_ = true; }

bool MetricsMerger::complete(const Entry& entry) const {
  if (finished_ || entry.ranks.size() == ranks_) return true;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    if (entry.ranks.contains(rank)) continue;
    const auto known = known_.find(rank);
    if (known == known_.end() || known->second.reached <= entry.head.step) return false;
  }
  return true;
}

std::vector<Metrics> MetricsMerger::take() {
  std::vector<Metrics> done;
  for (auto& [name, stage] : stages_) {
    while (!stage.open.empty() && complete(stage.open.front())) done.push_back(close(stage));
  }
  std::ranges::stable_sort(done, {}, &Metrics::step);
  return done;
}

Metrics MetricsMerger::close(Stage& stage) {
  const Entry entry = std::move(stage.open.front());
  stage.open.pop_front();
  stage.began = true;
  stage.step = entry.head.step;
  stage.without.clear();
  Metrics metrics = entry.head;
  metrics.samples = metrics.units = 0;
  ScalarMerger values;
  for (std::uint32_t rank = 0; rank < ranks_; ++rank) {
    const auto spoken = entry.ranks.find(rank);
    if (spoken == entry.ranks.end()) {
      stage.without.insert(rank);
      metrics.samples += known_[rank].totals.samples;
      metrics.units += known_[rank].totals.units;
    } else {
      const RankMetrics& said = spoken->second;
      values.add(said.metrics.values, said.weight, said.reductions);
      metrics.samples += said.metrics.samples;
      metrics.units += said.metrics.units;
    }
  }
  metrics.values = values.values();
  return metrics;
}

}  // namespace trainyard::manager
