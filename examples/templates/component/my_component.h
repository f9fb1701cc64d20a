// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "core/component/component.h"
#include "messages/metrics.h"

namespace example {

/// A component that computes the mean of the most recent training losses. It sends the mean as a new metric, which the
/// logger writes to its tables and shows in the terminal.
///
/// The handler on_metrics() is called for one message at a time. A handler may send messages, but must not block.
class MyComponent final : public trainyard::Component {
 public:
  /// The properties of the component that Trainyard must know before it creates the component, such as the thread on
  /// which the component runs.
  static inline const trainyard::ComponentTraits kTraits{.thread = "io"};

  explicit MyComponent(trainyard::ComponentContext& context) : Component(context, kTraits) {}

 private:
  void on_metrics(const trainyard::Metrics& metrics);

  trainyard::Parameter<std::int64_t> window_{*this, "window", 10, "number of losses in the mean",
                                             trainyard::positive() | trainyard::settable()};

  trainyard::Output<trainyard::Metrics> means_{*this, "means", "the mean of the losses", {.topic = "/metrics"}};

  // Declare inputs last, because their handlers use the other members.
  std::vector<double> losses_;
  trainyard::Input<trainyard::Metrics> metrics_{*this,
                                                "metrics",
                                                "losses to watch",
                                                [this](const auto& message) { on_metrics(*message); },
                                                {.window_messages = 1024, .topic = "/metrics"}};
};

}  // namespace example
