// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/component/component.h"
#include "messages/metrics.h"

namespace example {

/// Computes the mean of the last training losses and sends it as a new metric, which appears in the tables and on the
/// console.
///
/// A handler is called for every message that arrives, one at a time. It may send messages. It must not block.
class MyComponent final : public trainyard::Component {
 public:
  /// What Trainyard must know about the component before creating it, such as the thread on which it runs.
  static inline const trainyard::ComponentTraits kTraits{.thread = "io"};

  explicit MyComponent(trainyard::ComponentContext& context) : Component(context, kTraits) {}

 private:
  void on_metrics(const trainyard::Metrics& metrics);

  trainyard::Parameter<std::int64_t> window_{*this, "window", 10, "how many losses the mean is taken of",
                                             trainyard::positive() | trainyard::settable()};

  trainyard::Output<trainyard::Metrics> means_{*this, "means", "the mean of the losses", {.topic = "/metrics"}};

  // Inputs come last, because their handlers use the other members.
  std::vector<double> losses_;
  trainyard::Input<trainyard::Metrics> metrics_{*this,
                                                "metrics",
                                                "losses to watch",
                                                [this](const auto& message) { on_metrics(*message); },
                                                {.window_messages = 1024, .topic = "/metrics"}};
};

}  // namespace example
