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
/// Runs components in a test without a launcher. They share one event loop in the test's own thread and are connected
/// by topic, as a launch file without remaps would connect them. The test replaces the missing components.
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
  /// The properties of the run that the components see. It may be changed before the first add.
  struct World {
    std::string output_directory;  ///< By default a new temporary directory, which is removed with the rig.
    std::uint64_t seed = 1;
    std::uint32_t rank = 0;
    std::uint32_t world_size = 1;
    /// Shared by the rigs of several ranks; by default the rig has its own.
    std::shared_ptr<core::Rendezvous> rendezvous;
    std::vector<std::string> plugin_directories;  ///< By default the directories of the build.
  };
  Rig();
  ~Rig();
  /// Returns the properties of the run that the components will see.
  World& world();

  /// Constructs a component of class C. Throws what its constructor throws.
  template <class C>
  C& add(const std::string& name, const std::string& parameters_json = "{}") {
    ComponentContext context = make_context(name, parameters_json);
    auto component = std::make_unique<C>(context);
    C& reference = *component;
    adopt(std::move(component));
    return reference;
  }

  /// Connects the components by topic, configures them, and activates them, starting with the one added last. Throws
  /// what a hook throws.
  void start();
  /// Deactivates and finalizes the components, and handles what is still under way. It is safe after a component has
  /// failed.
  void stop();

  /// Sends a message to every input that listens to `topic`. It is handled when the loop runs next. Throws kNotFound if
  /// no input listens to the topic, and kTypeMismatch if the type differs.
  template <Message T>
  void send(const std::string& topic, T message) {
    send_erased(topic, std::make_shared<const T>(std::move(message)), message_type<T>());
  }

  /// Returns everything that has been sent on `topic` so far, in order. Throws kNotFound if no output sends on the
  /// topic.
  template <Message T>
  std::vector<std::shared_ptr<const T>> received(const std::string& topic) const {
    std::vector<std::shared_ptr<const T>> all;
    for (const auto& message : received_erased(topic, message_type<T>())) {
      all.push_back(std::static_pointer_cast<const T>(message));
    }
    return all;
  }

  /// Runs the loop until `done` returns true. Throws kTimeout after `deadline`, and kInternal if a component fails.
  void run_until(const std::function<bool()>& done, std::chrono::milliseconds deadline = std::chrono::seconds(20));

  /// Runs the loop until nothing is left to do. Worker threads of components may still be busy; to wait for those, use
  /// run_until.
  void run_until_idle();

  /// Returns the reason given to finish_run, or empty if the run was not finished.
  const std::string& finished() const;

  /// Makes the outputs of `topic` block when `window` messages are unread. By default the rig reads everything at once.
  void set_window(const std::string& topic, std::size_t window);
  /// Reads up to `count` more messages on a topic that has a window.
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
