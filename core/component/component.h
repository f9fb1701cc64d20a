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

namespace trainyard {

/// Where a component is in its life; every change is asked for by the launcher, but for kError, which is where an
/// exception leads. There is no way back from kFinalized and kError.
enum class State { kUnconfigured, kInactive, kActive, kFinalized, kError };
/// "inactive", "active", ...: the words of the control protocol (messages/control.h).
std::string_view name_of(State state);

/// How a component wants to be placed.
struct ComponentTraits {
  bool per_rank = false;        ///< One for every rank, in the namespace "rankN" if there are several.
  const char* thread = "main";  ///< When composed: the event loop it shares with others of the same word.
};

/// One part of the pipeline: does one job, speaks only in messages.
///
/// Derived classes declare inputs, outputs, services and parameters as members and do no work in their constructor: it
/// also runs when only the declaration is wanted. All handlers and hooks run on one event loop, one at a time. What
/// they throw puts the component into the error state, is reported with the component's name, and ends the run.
///
///     class Echo final : public Component {
///      public:
///       explicit Echo(ComponentContext& context) : Component(context) {}
///      private:
///       Output<Metrics> out_{*this, "echo", "what came in"};
///       Input<Metrics> in_{*this, "metrics", "anything", [this](const auto& m) { out_.send(m); }};
///     };
///     TRAINYARD_COMPONENT(Echo, "echo", "Sends back what it gets.")
///
/// A class that needs other placement than ComponentTraits' defaults has a `static constexpr ComponentTraits kTraits`
/// and passes it to this constructor.
class Component : public Configurable {
 public:
  static constexpr const char* kKind = "component";
  using Context = ComponentContext;

  /// Keeps a copy of the context. With empty parameters only the declaration is wanted, and the pointers in it are
  /// null.
  explicit Component(ComponentContext& context, ComponentTraits traits = {});
  ~Component() override;

  /// Full name in the run: "rank0/optimizer".
  const std::string& name() const { return context_.name; }
  const ComponentContext& context() const { return context_; }
  const ComponentTraits& traits() const { return traits_; }
  /// Read and changed on the component's loop only.
  State state() const { return state_; }
  /// Where handlers run. Another thread comes back to it by loop().post().
  EventLoop& loop() const { return *context_.loop; }

  /// In the order of declaration; the ports are members of the derived class and live as long as it does.
  const std::vector<InputBase*>& inputs() const { return inputs_; }
  const std::vector<OutputBase*>& outputs() const { return outputs_; }
  const std::vector<ServiceBase*>& services() const { return services_; }

  // For the runtime, on the component's loop.

  /// Runs the hook that leads to `target`. Throws kInternal for a change that the life cycle does not have, and
  /// whatever the hook throws (the state is then kError).
  void transition(State target);

  /// Hands over a message now, or later if the component is not active yet or is held back by its own outputs.
  void deliver(Delivery delivery);

  /// Called when an output may send again: hands over what was held.
  void release_held();

  /// What to do with an exception of a handler; set by the process that runs the component.
  void on_error(std::function<void(const std::string&)> callback) { on_error_ = std::move(callback); }

  /// Puts the component into the error state and reports it.
  void fail(const std::string& what);

  /// Runs `action`; what it throws fails the component.
  void guarded(const std::function<void()>& action);

 protected:
  /// Before edges exist: check parameters, open files, take memory.
  virtual void on_configure() {}
  /// Every edge is connected; sources start to send.
  virtual void on_activate() {}
  /// Stop sending. Blocks until what was begun is done; the launcher's deadline bounds it. Inputs stay open.
  virtual void on_deactivate() {}
  /// Last word: close files. Everything that was sent to this component has been handled.
  virtual void on_finalize() {}

  /// For people: lines carry the component's name. From any thread.
  spdlog::logger& log() const { return *context_.log; }
  /// Tells the launcher that the run is over, with a reason for the user. Returns at once: the component is deactivated
  /// and finalized later, as in any other end.
  void finish_run(const std::string& reason, bool success = true) { context_.finish_run(reason, success); }

 private:
  friend class InputBase;
  friend class OutputBase;
  friend class ServiceBase;

  // Hands a delivery to its handler and returns its credit.
  bool held() const;
  void dispatch(const Delivery& delivery);

  ComponentContext context_;
  ComponentTraits traits_;
  State state_ = State::kUnconfigured;
  bool was_active_ = false;  ///< Before that, what arrives is held.
  std::vector<InputBase*> inputs_;
  std::vector<OutputBase*> outputs_;
  std::vector<ServiceBase*> services_;
  // What arrived while held(), in order, whatever the input. Bounded by the windows of the edges that lead here.
  std::deque<Delivery> held_;
  std::function<void(const std::string&)> on_error_;
};

}  // namespace trainyard

/// Registers a component; the last line of its .cpp, inside no namespace.
#define TRAINYARD_COMPONENT(Class, name, description) \
  TRAINYARD_PLUGIN("component", ::trainyard::Component, ::trainyard::ComponentContext, Class, name, "1", description)
