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

/// Where a component is in its life. The launcher asks for every change except the one to kError, which an exception
/// causes. There is no way back from kFinalized and kError.
enum class State { kUnconfigured, kInactive, kActive, kFinalized, kError };
/// The names that the control protocol uses: "inactive", "active", ... (messages/control.h).
std::string_view name_of(State state);
/// The state of that name; throws kInvalidArgument, with the nearest one, for any other word.
State state_named(std::string_view name);

/// How a component wants to be placed.
struct ComponentTraits {
  /// True to have one for every rank. If there are several ranks, each is in the namespace "rankN".
  bool per_rank = false;
  /// The event loop that it uses in a composed run; components with the same name share one.
  const char* thread = "main";
};

/// One part of the pipeline, which does one job and communicates only by messages.
///
/// A derived class declares its inputs, outputs, services and parameters as members. Its constructor does no work,
/// because it also runs when only the declaration is wanted. All handlers and hooks run on one event loop, one at a
/// time. An exception from one of them puts the component into the error state, is reported with the component's name,
/// and ends the run.
///
///    class Echo final : public Component {
///     public:
///      explicit Echo(ComponentContext& context) : Component(context) {}
///     private:
///      Output<Metrics> out_{*this, "echo", "what came in"};
///      Input<Metrics> in_{*this, "metrics", "anything", [this](const auto& m) { out_.send(m); }};
///    };
///    TRAINYARD_COMPONENT(Echo, "echo", "Sends back what it gets.")
///
/// A class that is to be placed in another way than ComponentTraits' defaults say has a `static constexpr
/// ComponentTraits kTraits` and passes it to this constructor.
class Component : public Configurable {
 public:
  static constexpr const char* kKind = "component";
  using Context = ComponentContext;

  /// Keeps a copy of the context. If its parameters are empty, only the declaration is wanted and its pointers are
  /// null.
  explicit Component(ComponentContext& context, ComponentTraits traits = {});
  ~Component() override;

  /// The full name in the run, such as "rank0/optimizer".
  const std::string& name() const { return context_.name; }
  const ComponentContext& context() const { return context_; }
  const ComponentTraits& traits() const { return traits_; }
  /// Read and changed only on the component's event loop.
  State state() const { return state_; }
  /// The event loop that runs the handlers. Other threads reach it by loop().post().
  core::EventLoop& loop() const { return *context_.loop; }

  /// The ports in the order of declaration. They are members of the derived class and live as long as it does.
  const std::vector<InputBase*>& inputs() const { return inputs_; }
  const std::vector<OutputBase*>& outputs() const { return outputs_; }
  const std::vector<ServiceBase*>& services() const { return services_; }

  // The following functions are for the runtime, on the component's loop.

  /// Runs the hook that leads to `target`. Throws kInternal for a change that the life cycle does not have, and
  /// whatever the hook throws; the state is then kError.
  void transition(State target);

  /// Passes a message to its handler now, or later if the component is not active yet or is held back by its own
  /// outputs.
  void deliver(core::Delivery delivery);

  /// Called when an output may send again: delivers what was held back.
  void release_held();

  /// Sets what to do when a handler throws. The process that runs the component sets it.
  void on_error(std::function<void(const std::string&)> callback) { on_error_ = std::move(callback); }

  /// Puts the component into the error state and reports it.
  void fail(const std::string& what);

  /// Runs `action`. If it throws, the component fails.
  void guarded(const std::function<void()>& action);

 protected:
  /// Runs before edges exist: checks parameters, opens files, takes memory.
  virtual void on_configure() {}
  /// Runs when every edge is connected. A source starts to send here.
  virtual void on_activate() {}
  /// Stops sending. It blocks until what was begun is done, within the launcher's deadline. Inputs stay open.
  virtual void on_deactivate() {}
  /// Runs last, when everything that was sent to this component has been handled: closes files.
  virtual void on_finalize() {}

  /// The log for people. Its lines carry the component's name, and any thread may write to it.
  spdlog::logger& log() const { return *context_.log; }
  /// Tells the launcher that the run is over, with a reason for the user. It returns at once. The component is
  /// deactivated and finalized later, as at any other end.
  void finish_run(const std::string& reason, bool success = true) { context_.finish_run(reason, success); }

 private:
  friend class InputBase;
  friend class OutputBase;
  friend class ServiceBase;

  // True if the component must not be given messages now.
  bool held() const;
  void dispatch(const core::Delivery& delivery);

  ComponentContext context_;
  ComponentTraits traits_;
  State state_ = State::kUnconfigured;
  bool was_active_ = false;  ///< Until the component has been active once, what arrives is held back.
  std::vector<InputBase*> inputs_;
  std::vector<OutputBase*> outputs_;
  std::vector<ServiceBase*> services_;
  // What arrived while held() was true, in order, whatever the input. The windows of the edges that lead here bound it.
  std::deque<core::Delivery> held_;
  std::function<void(const std::string&)> on_error_;
};

}  // namespace trainyard

/// Registers a component. It is the last line of the component's .cpp, outside of any namespace.
#define TRAINYARD_COMPONENT(Class, name, description) \
  TRAINYARD_PLUGIN("component", ::trainyard::Component, ::trainyard::ComponentContext, Class, name, "1", description)
