// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/validation.h"

#include <algorithm>

#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard::manager {

Validation::Validation(const RunSettings& settings, const RunFacts& facts, const std::vector<Scalar>& known)
    : monitor_(settings.monitor),
      stops_early_(settings.early_stopping_patience > 0),
      stopping_(settings.monitor_max, settings.early_stopping_patience, settings.early_stopping_min_delta) {
  if (settings.mode != RunMode::kFit && settings.mode != RunMode::kValidate) return;
  for (const std::string& name : settings.evaluate_splits) {
    // "validate" is the default, and the dataset need not have this split. Any other name was set by the user, so it
    // must exist.
    if (settings.mode == RunMode::kFit && name == "validate" && !facts.batches.contains(name)) continue;
    const std::uint64_t batches = batches_of(facts, name, settings.limit_val_batches);
    if (batches > 0) splits_.push_back({name, batches});
  }
  if (splits_.empty()) return;
  const bool has_validate = std::ranges::find(splits_, "validate", &Split::name) != splits_.end();
  // Early stopping uses only one split, because a mean over several splits could hide that one of them became worse.
  watched_ = has_validate ? "validate" : splits_.front().name;
  // So that a checkpoint soon after resuming contains metrics. They also count as the best results, unless
  // restore_state() is called.
  results_[watched_] = known;
  const auto found = std::ranges::find(known, monitor_, &Scalar::name);
  if (found != known.end()) stopping_.update(found->value);
}

void Validation::save_state(StateWriter& into) const {
  into.set("monitor", monitor_);
  into.set("split", watched_);
  into.set("waited", static_cast<std::uint64_t>(stopping_.waited()));
  if (stopping_.best()) into.set("best", *stopping_.best());
}

void Validation::restore_state(const StateReader& from) {
  if (from.text("monitor") != monitor_ || from.text("split") != watched_) return;
  stopping_.go_on_from(from.has("best") ? std::optional(from.number("best")) : std::nullopt,
                       static_cast<std::int64_t>(from.count("waited")));
}

void Validation::take(const std::string& split, const std::vector<Scalar>& metrics, bool judged) {
  results_[split] = metrics;
  if (judged && split == watched_) judge(metrics);
}

void Validation::judge(const std::vector<Scalar>& metrics) {
  const auto found = std::ranges::find(metrics, monitor_, &Scalar::name);
  // Without early stopping, the metric need not exist; no validation then counts as an improvement.
  improved_ = found != metrics.end() && stopping_.update(found->value);
  if (found != metrics.end() || !stops_early_) return;
  std::vector<std::string> names;
  for (const Scalar& metric : metrics) names.push_back(metric.name);
  throw Error(Code::kNotFound, "early stopping watches '{}', which split '{}' does not have{}", monitor_, watched_,
              suggestion(monitor_, names));
}

// The metrics of the watched split have no prefix, because the parameters `monitor` use plain names such as "loss".
std::vector<Scalar> Validation::metrics() const {
  std::vector<Scalar> all;
  for (const auto& [split, metrics] : results_) {
    for (const Scalar& metric : metrics) {
      all.push_back({split == watched_ ? metric.name : split + "/" + metric.name, metric.value});
    }
  }
  return all;
}

}  // namespace trainyard::manager
