// SPDX-License-Identifier: Apache-2.0
#include "components/prometheus/last_metrics.h"

namespace trainyard::prometheus {

void LastMetrics::add(const Metrics& metrics) {
  // Each stage counts as one value, so that the number of stages is limited, too.
  const auto has_room = [&](const std::string& name) { return values_ < kMostValues && name.size() <= kLongestName; };
  if (!stages_.contains(metrics.stage)) {
    if (!has_room(metrics.stage)) return;
    ++values_;
  }
  Stage& stage = stages_[metrics.stage];
  stage.time_ns = metrics.time_ns;
  for (const Scalar& scalar : metrics.values) {
    const auto known = stage.values.find(scalar.name);
    if (known != stage.values.end()) {
      known->second = scalar.value;
    } else if (has_room(scalar.name)) {
      stage.values.emplace(scalar.name, scalar.value);
      ++values_;
    }
  }
  last_ = metrics;
  last_.values.clear();
  any_ = true;
}

void LastMetrics::write(Exposition& text) const {
  if (!any_) return;
  text.family("trainyard_steps", Kind::kCounter, "Steps of training that the run has done.");
  text.sample({}, static_cast<double>(last_.step));
  if (last_.total_steps > 0) {
    text.family("trainyard_planned_steps", Kind::kGauge, "Steps of training that the whole run has.");
    text.sample({}, static_cast<double>(last_.total_steps));
  }
  text.family("trainyard_epoch", Kind::kGauge, "The current pass over the training samples, counted from 0.");
  text.sample({}, static_cast<double>(last_.epoch));
  text.family("trainyard_samples", Kind::kCounter, "Samples that the run has trained on.");
  text.sample({}, static_cast<double>(last_.samples));
  text.family("trainyard_units", Kind::kCounter, "Samples or tokens that the run has trained on.");
  text.sample({{"unit", last_.unit}}, static_cast<double>(last_.units));
  text.family("trainyard_metric", Kind::kGauge, "The last value of each metric of the run.");
  for (const auto& [name, stage] : stages_) {
    for (const auto& [metric, value] : stage.values) text.sample({{"stage", name}, {"metric", metric}}, value);
  }
  text.family("trainyard_metrics_timestamp_seconds", Kind::kGauge,
              "When the metrics of each stage were last reported.");
  for (const auto& [name, stage] : stages_) text.sample({{"stage", name}}, static_cast<double>(stage.time_ns) * 1e-9);
}

}  // namespace trainyard::prometheus
