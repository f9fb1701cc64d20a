// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/component/component.h"
#include "core/rendezvous/rendezvous.h"

namespace trainyard::testing {

// clang-format off
/// A harness that runs components in a test without a launcher. The components share one event loop in the test's own
/// thread and are connected by topic, as a launch file that does not use `remap` would connect them. The test sends the
/// messages of the components that are missing.
///
///    Rig rig;
///    rig.add<Logger>("logger", R"({"every_steps": 1})");
///    rig.start();                                  // connect, configure, activate
///    rig.send("/metrics", Metrics{.step = 1});
///    rig.run_until([&] { return std::filesystem::exists(path); });
///    EXPECT_EQ(rig.received<Prediction>("/predictions").size(), 1u);
///    rig.stop();                                   // deactivate, drain, finalize
// clang-format on
class Rig {
 public:
  /// The properties of the run that the components see.
  struct World {
    /// By default a new temporary directory, which is removed when the rig is destroyed.
    std::string output_directory;
    std::uint64_t seed = 1;
    std::uint32_t rank = 0;
    std::uint32_t world_size = 1;
    /// The store through which ranks exchange data when they start. In a test with several ranks, the rigs of all ranks
    /// must share it. By default each rig has a separate one.
    std::shared_ptr<core::Rendezvous> rendezvous;
    std::vector<std::string> plugin_directories;  ///< By default PluginLoader::default_directories().
  };
  Rig();
  ~Rig();
  /// Returns the properties of the run. They may be changed only before the first call of add().
  World& world();

  /// Constructs a component of class C, which the rig owns, and returns a reference to it. `name` is its full name in
  /// the run. Exceptions of the constructor are passed on.
  template <class C>
  C& add(const std::string& name, const std::string& parameters_json = "{}") {
    ComponentContext context = make_context(name, parameters_json);
    auto component = std::make_unique<C>(context);
    C& reference = *component;
    adopt(std::move(component));
    return reference;
  }

  /// Connects the components by topic, configures them, and activates them in reverse order of addition. Exceptions of
  /// their hooks are passed on.
  void start();
  /// Deactivates the components, handles the messages that are still in flight, and finalizes the components.
  /// Components that have failed are left out.
  void stop();

  /// Sends a message to every input that listens to `topic`. Call this function only after start(). The message is
  /// handled when the loop runs next. Throws kNotFound if no input listens to the topic, and kTypeMismatch if the
  /// inputs expect a type other than T.
  template <Message T>
  void send(const std::string& topic, T message) {
    send_erased(topic, std::make_shared<const T>(std::move(message)), message_type<T>());
  }

  /// Returns all messages that components have sent on `topic`, in order. Call this function only after start(). Throws
  /// kNotFound if no output sends on the topic, and kTypeMismatch if the outputs send a type other than T.
  template <Message T>
  std::vector<std::shared_ptr<const T>> received(const std::string& topic) const {
    std::vector<std::shared_ptr<const T>> all;
    for (const auto& message : received_erased(topic, message_type<T>())) {
      all.push_back(std::static_pointer_cast<const T>(message));
    }
    return all;
  }

  /// Runs the loop until `done` returns true. Throws kTimeout if `done` has not returned true within `deadline`, and
  /// kInternal if a component fails.
  void run_until(const std::function<bool()>& done, std::chrono::milliseconds deadline = std::chrono::seconds(20));

  /// Runs the loop until nothing is left to do. Worker threads of components may still be busy; use run_until() to wait
  /// for them. Throws kInternal if a component fails.
  void run_until_idle();

  /// Returns the reason that a component passed to finish_run(), or an empty string if finish_run() was not called.
  const std::string& finished() const;

  /// Limits how many messages the rig reads on `topic`: the first `window` messages, and as many more as take()
  /// permits. The outputs of the topic block while further messages wait. Without a limit, the rig reads every message
  /// immediately.
  void set_window(const std::string& topic, std::size_t window);
  /// Permits the rig to read `count` more messages on a topic for which set_window() was called. Messages that wait
  /// already are read immediately, and the others when they are sent.
  void take(const std::string& topic, std::size_t count);

 private:
  ComponentContext make_context(const std::string& name, const std::string& parameters_json);
  void adopt(std::unique_ptr<Component> component);
  void send_erased(const std::string& topic, std::shared_ptr<const void> message, const MessageType& type);
  std::vector<std::shared_ptr<const void>> received_erased(const std::string& topic, const MessageType& type) const;

  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace trainyard::testing
