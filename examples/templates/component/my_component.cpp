// SPDX-License-Identifier: Apache-2.0
#include "components/my_component/my_component.h"

#include <numeric>

namespace example {

void MyComponent::on_metrics(const trainyard::Metrics& metrics) {
  if (metrics.stage != "train") return;
  for (const trainyard::Scalar& scalar : metrics.values) {
    if (scalar.name == "loss") losses_.push_back(scalar.value);
  }
  if (losses_.size() < static_cast<std::size_t>(*window_)) return;
  const double sum = std::accumulate(losses_.begin(), losses_.end(), 0.0);
  trainyard::Metrics mean = metrics;
  mean.stage = "mean";
  mean.values = {{.name = "loss", .value = sum / static_cast<double>(losses_.size())}};
  losses_.clear();
  means_.send(std::move(mean));
}

}  // namespace example

TRAINYARD_COMPONENT(example::MyComponent, "my_component", "Reports the mean of the last training losses.")
