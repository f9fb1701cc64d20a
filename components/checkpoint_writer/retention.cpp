// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/retention.h"

#include <algorithm>

namespace trainyard {
namespace {

/// Returns the indices of the checkpoints that have a value, best first. Checkpoints with equal values stay in the
/// order of writing.
std::vector<std::size_t> ranked(std::span<const StoredCheckpoint> checkpoints, const RetentionRule& rule) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
    if (checkpoints[i].value) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const double left = *checkpoints[a].value, right = *checkpoints[b].value;
    return rule.smaller_is_better ? left < right : left > right;
  });
  return order;
}

}  // namespace

std::optional<std::size_t> best_of(std::span<const StoredCheckpoint> checkpoints, const RetentionRule& rule) {
  const std::vector<std::size_t> order = ranked(checkpoints, rule);
  if (order.empty()) return {};
  return order.front();
}

std::vector<std::size_t> to_delete(std::span<const StoredCheckpoint> checkpoints, const RetentionRule& rule) {
  std::vector<std::size_t> doomed;
  // 0 means that all checkpoints are kept.
  if (rule.last == 0) return doomed;
  std::vector<bool> kept(checkpoints.size(), false);
  for (std::size_t i = checkpoints.size() - std::min(checkpoints.size(), rule.last); i < checkpoints.size(); ++i) {
    kept[i] = true;
  }
  const std::vector<std::size_t> order = ranked(checkpoints, rule);
  // A checkpoint can be both among the best and among the newest, so fewer than last + best may be kept.
  for (std::size_t i = 0; i < std::min(order.size(), rule.best); ++i) kept[order[i]] = true;
  for (std::size_t i = 0; i < checkpoints.size(); ++i) {
    if (!kept[i]) doomed.push_back(i);
  }
  return doomed;
}

}  // namespace trainyard
