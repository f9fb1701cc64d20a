// SPDX-License-Identifier: Apache-2.0
#include "viewer/confusion_shelf.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "messages/error.h"
#include "messages/nearest.h"
#include "messages/printable.h"

namespace trainyard::viewer {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxClassName = 100;

}  // namespace

bool ConfusionShelf::add(const Confusion& confusion) {
  const std::size_t classes = confusion.classes.size();
  if (classes == 0 || classes > Confusion::kMaxClasses || confusion.counts.size() != classes * classes) return false;
  if (!known_.emplace(confusion.time_ns, confusion.rank).second) return false;
  if (known_.size() > 10'000) known_.erase(known_.begin());
  ++revision_;
  const auto same = std::ranges::find_if(matrices_, [&](const Matrix& each) {
    return each.sum.step == confusion.step && each.sum.split == confusion.split && each.sum.classes.size() == classes;
  });
  if (same != matrices_.end()) {
    std::vector<std::uint64_t>& counts = same->sum.counts;
    if (same->ranks.add(confusion.rank, confusion.ranks)) {
      std::ranges::transform(counts, confusion.counts, counts.begin(), std::plus<>());
    } else {
      counts = confusion.counts;
    }
    return true;
  }
  matrices_.push_back({.sum = confusion, .ranks = {}});
  matrices_.back().ranks.add(confusion.rank, confusion.ranks);
  Confusion& kept = matrices_.back().sum;
  kept.split = printable_line(kept.split.substr(0, kMaxClassName));
  for (std::string& name : kept.classes) name = printable_line(name.substr(0, kMaxClassName));
  counts_ += kept.counts.size();
  while (matrices_.size() > kMaxMatrices || (counts_ > kMaxCounts && matrices_.size() > 1)) {
    counts_ -= matrices_.front().sum.counts.size();
    matrices_.pop_front();
  }
  return true;
}

void ConfusionShelf::append_news(std::uint64_t& position, std::vector<json>& news) const {
  if (std::exchange(position, revision_) == revision_) return;
  const Confusion& last = matrices_.back().sum;
  news.push_back({{"push", "confusion"}, {"split", last.split}, {"step", last.step}});
}

json ConfusionShelf::matrix(const std::string& split, std::optional<std::uint64_t> step) const {
  if (matrices_.empty()) throw Error(Code::kNotFound, std::string("the run has no confusion matrix"));
  const std::string& wanted = split.empty() ? matrices_.back().sum.split : split;
  const Confusion* found = nullptr;
  json steps = json::array();
  std::vector<std::string> splits;
  for (const auto& [each, ranks] : matrices_) {
    if (std::ranges::find(splits, each.split) == splits.end()) splits.push_back(each.split);
    if (each.split != wanted) continue;
    steps.push_back(each.step);
    if (!step || each.step == *step) found = &each;
  }
  if (steps.empty()) {
    throw Error(Code::kNotFound, "the run has no confusion matrix of the split '{}'{}", wanted,
                suggestion(wanted, splits));
  }
  if (found == nullptr) {
    throw Error(Code::kNotFound, "the run has no confusion matrix of the split '{}' after step {}", wanted, *step);
  }
  return {{"split", wanted},           {"splits", splits},          {"step", found->step},
          {"steps", std::move(steps)}, {"classes", found->classes}, {"counts", found->counts}};
}

}  // namespace trainyard::viewer
