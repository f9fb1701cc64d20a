// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <spdlog/logger.h>

#include <chrono>
#include <functional>
#include <vector>

#include "core/component/component.h"
#include "core/loop/event_loop.h"
#include "messages/error.h"
#include "messages/scalar.h"

namespace trainyard::testing {

/// A component without inputs, whose output the test uses directly.
class NumberSource final : public Component {
 public:
  explicit NumberSource(ComponentContext context) : Component(context) {}
  Output<Scalar> out{*this, "numbers", "numbers to send"};
};

/// A component that stores the value of each message and sends the message on through `echo`. It throws when it
/// receives the value kPoison. Because it has an output, a test can hold the component back by blocking that output.
class Sink final : public Component {
 public:
  static constexpr double kPoison = -1;
  explicit Sink(ComponentContext context) : Component(context) {}

  std::vector<double> values;
  Output<Scalar> echo{*this, "echo", "the numbers received"};
  Input<Scalar> in{*this, "numbers", "numbers to keep", [this](const std::shared_ptr<const Scalar>& number) {
                     if (number->value == kPoison) throw Error(Code::kInvalidArgument, "poisoned by {}", number->value);
                     values.push_back(number->value);
                     echo.send(number);
                   }};
};

/// A source and a sink on one event loop, for tests of edges. The test makes the edge between the two components and
/// decides when the loop runs, so nothing depends on timing.
struct Pipe {
  core::EventLoop loop{"pipe"};
  NumberSource source{context("source")};
  Sink sink{context("sink")};

  ComponentContext context(const std::string& name) { return context(name, loop); }
  /// Returns a minimal context for a component: it has no log, no plugins and no pool.
  static ComponentContext context(const std::string& name, core::EventLoop& on) {
    ComponentContext made;
    made.where = "component '" + name + "'";
    made.parameters = "{}";
    made.name = name;
    made.loop = &on;
    return made;
  }

  /// Activates the source and then the sink.
  void activate() {
    for (Component* component : {static_cast<Component*>(&source), static_cast<Component*>(&sink)}) {
      component->transition(State::kInactive);
      component->transition(State::kActive);
    }
  }

  /// Runs the loop until nothing is left to do. This is enough for edges within the loop.
  void run_until_idle() {
    while (loop.run_once()) {
    }
  }

  /// Runs the loop until `done` returns true. Use it for edges that involve another thread or process. Throws kTimeout
  /// after 20 s, which no test reaches unless it hangs.
  void run_until(const std::function<bool()>& done) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!done()) {
      if (std::chrono::steady_clock::now() > end)
        throw Error(Code::kTimeout, "the condition did not come true in {} s", 20);
      // This waits for work, not for the condition, which is checked again after every turn of the loop.
      if (!loop.run_once()) loop.wait(std::chrono::milliseconds(1));
    }
  }
};

}  // namespace trainyard::testing
