#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/component/component.h"
#include "core/rendezvous/rendezvous.h"

namespace trainyard::testing {

/// Runs components in a test, without a launcher: on one event loop in the test's own thread, wired by topic as a
/// launch file without remaps would wire them. The test plays the missing parts.
///
///     Rig rig;
///     rig.add<Logger>("logger", R"({"every_steps": 1})");
///     rig.start();                                  // configure, connect, activate
///     rig.send("/metrics", Metrics{.step = 1});
///     rig.run_until([&] { return std::filesystem::exists(path); });
///     EXPECT_EQ(rig.received<Prediction>("/predictions").size(), 1u);
///     rig.stop();                                   // deactivate, drain, finalize
class Rig {
 public:
  /// `world` fields may be changed before the first add.
  struct World {
    std::string output_directory;  ///< Default: a fresh temporary directory, removed with the rig.
    std::uint64_t seed = 1;
    std::uint32_t rank = 0;
    std::uint32_t world_size = 1;
    std::shared_ptr<Rendezvous> rendezvous;       ///< Shared by the rigs of several ranks; default: one of its own.
    std::vector<std::string> plugin_directories;  ///< Default: those of the build.
  };
  Rig();
  ~Rig();
  /// What the components will be told of the run.
  World& world();

  /// Makes a component of class C. Throws what its constructor or check of parameters throws.
  template <class C>
  C& add(const std::string& name, const std::string& parameters_json = "{}") {
    ComponentContext context = make_context(name, parameters_json);
    auto component = std::make_unique<C>(context);
    C& reference = *component;
    adopt(std::move(component));
    return reference;
  }

  /// Configures, connects by topic, activates: those added last first. Throws what a hook throws.
  void start();
  /// Deactivates and finalizes, handling what is still under way. Safe after a component has failed.
  void stop();

  /// Sends to every input that listens to `topic`; the type must fit. Throws kNotFound if nobody listens,
  /// kTypeMismatch. The message is handled when the loop runs next.
  template <Message T>
  void send(const std::string& topic, T message) {
    send_erased(topic, std::make_shared<const T>(std::move(message)), message_type<T>());
  }

  /// Everything that was sent on `topic` so far, in order. Throws kNotFound for a topic that no output sends.
  template <Message T>
  std::vector<std::shared_ptr<const T>> received(const std::string& topic) const {
    std::vector<std::shared_ptr<const T>> all;
    for (const auto& message : received_erased(topic, message_type<T>())) {
      all.push_back(std::static_pointer_cast<const T>(message));
    }
    return all;
  }

  /// Runs the loop until `done`; throws kTimeout after `deadline`. Errors of components are thrown here.
  void run_until(const std::function<bool()>& done, std::chrono::milliseconds deadline = std::chrono::seconds(20));

  /// Runs the loop until nothing is left to do. Worker threads of components may still be busy: use run_until for
  /// those.
  void run_until_idle();

  /// Reason given to finish_run, empty if the run was not finished.
  const std::string& finished() const;

  /// An output stops giving room when its edges hold `window` unread messages; the default reads everything at once.
  void set_window(const std::string& topic, std::size_t window);
  /// Lets the probe on a limited topic take up to `count` more messages.
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
