// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/component/context.h"
#include "core/component/input.h"
#include "core/component/output.h"
#include "core/component/service.h"
#include "core/config/configurable.h"
#include "core/edge/delivery.h"
#include "core/plugin/plugin.h"
#include "core/traits/component_traits.h"
#include "messages/setting.h"
#include "messages/words.h"

namespace trainyard {

/// The states of a component's life cycle. The launcher requests every change of state except a change to kError, which
/// an exception causes. kFinalized and kError are final.
enum class State { kUnconfigured, kInactive, kActive, kFinalized, kError };
/// Returns the words for the states in the control protocol (messages/control.h).
constexpr auto words_of(State) {
  return words("component state", "unconfigured", "inactive", "active", "finalized", "error");
}

/// The base class of all components. A component is a part of a run that does one job and communicates only by
/// messages.
///
/// A derived class declares its inputs, outputs, services and parameters as members. The constructor must do no work,
/// because it also runs when a tool only reads these declarations. All handlers and hooks run on one event loop, one at
/// a time. An exception from a handler or a hook puts the component into the error state, is reported with the
/// component's name, and ends the run.
///
///    class Echo final : public Component {
///     public:
///      explicit Echo(ComponentContext& context) : Component(context) {}
///     private:
///      Output<Metrics> out_{*this, "echo", "the received metrics"};
///      Input<Metrics> in_{*this, "metrics", "any metrics", [this](const auto& m) { out_.send(m); }};
///    };
///    TRAINYARD_COMPONENT(Echo, "echo", "Sends back what it receives.")
///
/// A class whose traits differ from the defaults of ComponentTraits declares a `static inline const ComponentTraits
/// kTraits` and passes it to the constructor of Component.
class Component : public Configurable {
 public:
  static constexpr const char* kKind = "component";
  using Context = ComponentContext;

  /// Keeps a copy of the context. If `context.parameters` is an empty string (not `"{}"`), the component is constructed
  /// only so that a tool can read its declaration (ports, services and parameters), and the pointers in the context are
  /// null.
  explicit Component(ComponentContext& context, ComponentTraits traits = {});
  ~Component() override;

  /// Returns the full name in the run, such as "rank0/optimizer".
  const std::string& name() const { return context_.name; }
  const ComponentContext& context() const { return context_; }
  const ComponentTraits& traits() const { return traits_; }
  core::PluginTraits declared_traits() const final;
  /// Returns the state. Call this function only on the component's event loop.
  State state() const { return state_; }
  /// Returns the event loop that runs the handlers. Other threads can run a task on this loop with loop().post().
  core::EventLoop& loop() const { return *context_.loop; }

  /// These functions return the declared inputs, outputs and services, each in the order of declaration. The component
  /// owns them, as members of the derived class or of its StatePort.
  const std::vector<InputBase*>& inputs() const { return inputs_; }
  const std::vector<OutputBase*>& outputs() const { return outputs_; }
  const std::vector<ServiceBase*>& services() const { return services_; }

  // The following functions are for the runtime, on the component's loop.

  /// Runs the hook that belongs to the change to `target`, and then changes the state. Throws kInternal if the life
  /// cycle does not allow the change, and passes on exceptions from the hook. After any exception, the state is kError.
  /// A change to kActive also calls release_held().
  void transition(State target);

  /// Passes a message to the handler of its input, or keeps it until release_held() is called. The message is kept in
  /// three cases: the component has not been active yet, messages are waiting at one of its outputs because the
  /// receiver is slow, or earlier messages are still kept.
  void deliver(core::Delivery delivery);

  /// Passes the messages that deliver() has kept to their handlers, until messages wait for room at an output again.
  /// Called when the component becomes active, and when no output has waiting messages any longer.
  void release_held();

  /// Sets the function that fail() calls with the text of the error.
  void on_error(std::function<void(const std::string&)> callback) { on_error_ = std::move(callback); }

  /// Puts the component into the error state and calls the function set by on_error() with `what`, the text of the
  /// error. After this call, messages to the component are discarded.
  void fail(const std::string& what);

  /// Runs `action`. If it throws, calls fail() with the text of the exception.
  void guarded(const std::function<void()>& action);

 protected:
  /// Checks parameters, opens files and allocates memory. An override must not send messages, because other processes
  /// are not connected yet.
  virtual void on_configure() {}
  /// Runs when every edge (connection from an output to an input) of the run is connected, before any message is
  /// handled. A component that produces data without receiving messages starts to send here.
  virtual void on_activate() {}
  /// Finishes the work that has begun, and stops sending. The launcher waits for this hook only until a deadline, and
  /// then aborts the run. Messages that arrive after this hook are still handled.
  virtual void on_deactivate() {}
  /// Closes files. This hook runs last, after all messages sent to this component have been handled. It does not run if
  /// the component has failed.
  virtual void on_finalize() {}

  /// In a resumed run, repeats the changes to this component's parameters that were made before the checkpoint. A
  /// component with settable parameters calls this when it receives the RunState. `settings` is RunState::settings,
  /// which contains the changes for all components. A change is repeated only if the launch file still gives the
  /// parameter the value that it had before the change (Setting::instead_of); otherwise a warning is logged.
  void take_settings(const std::vector<Setting>& settings);

  /// Returns the component's log. Every line contains the component's name. Any thread may write to the log.
  spdlog::logger& log() const { return *context_.log; }
  /// Asks the launcher to end the run, and returns immediately. `reason` is shown to the user. If `success` is false,
  /// the run counts as failed. The component is deactivated and finalized later, as at the end of every run.
  void finish_run(const std::string& reason, bool success = true) { context_.finish_run(reason, success); }

 private:
  friend class InputBase;
  friend class OutputBase;
  friend class ServiceBase;

  // Returns true if the component must not be given messages now.
  bool held() const;
  void dispatch(const core::Delivery& delivery);

  ComponentContext context_;
  ComponentTraits traits_;
  State state_ = State::kUnconfigured;
  /// False until the component first becomes active or fails; messages that arrive earlier are held back.
  bool was_active_ = false;
  std::vector<InputBase*> inputs_;
  std::vector<OutputBase*> outputs_;
  std::vector<ServiceBase*> services_;
  // The messages that arrived while held() was true, in order, for all inputs. Their number and size are limited,
  // because every edge limits its messages in flight.
  std::deque<core::Delivery> held_;
  std::function<void(const std::string&)> on_error_;
};

}  // namespace trainyard

/// Registers the class `Class` as the component `name`. `description` is one sentence about the component. The macro
/// must be the last line of the component's .cpp, outside of any namespace.
#define TRAINYARD_COMPONENT(Class, name, description) \
  TRAINYARD_PLUGIN("component", ::trainyard::Component, ::trainyard::ComponentContext, Class, name, "1", description)
