// SPDX-License-Identifier: Apache-2.0
#include "core/process/process.h"

#include <unistd.h>

#include "core/component/boundary.h"
#include "core/plugin/abi.h"
#include "messages/error.h"

namespace trainyard::core {

namespace {

/// The interval between two heartbeats. The launcher reports a process from which no heartbeat arrives for thirty
/// intervals.
constexpr auto kHeartbeat = std::chrono::milliseconds(1000);

/// Returns a context with room for enough sockets. A logger subscribes to every process of the run, and each of these
/// subscriptions takes three sockets (ConnectionWatch), so libzmq's default of 1023 would not suffice for large runs.
zmq::context_t make_context() {
  constexpr int kMostSockets = 8192;
  zmq::context_t context;
  context.set(zmq::ctxopt::max_sockets, kMostSockets);
  return context;
}

}  // namespace

Process::Process(std::string name, const std::string& control_endpoint, RunKeys keys)
    : name_(std::move(name)),
      keys_(std::move(keys)),
      sockets_(make_context()),
      link_(sockets_, name_, control_endpoint, keys_),
      life_(loop_, life_reports()),
      requests_(name_, loop_, [this](const Reply& reply) { link_.send(reply); }) {
  if (!keys_.empty()) {
    // All processes of a run share one pair of keys, so the list has one entry.
    admission_.emplace(sockets_, std::vector{keys_.public_key});
    loop_.add(*admission_);
  }
  loop_.add(link_);
  link_.on<ProcessPlan>([this](const ProcessPlan& plan) { on_plan(plan); });
  link_.on<Connect>([this](const Connect& connect) {
    if (wiring_) wiring_->connect(connect);
  });
  link_.on<Transition>([this](const Transition& transition) { on_transition(transition); });
  link_.on<Request>([this](const Request& request) { on_request(request); });
  link_.on<PeerGone>([this](const PeerGone& peer) {
    if (wiring_) wiring_->peer_gone(peer);
  });
}

// The threads end first, because they use the gateway, the wiring and the loop of this object. The listener of the log
// is removed, so that log lines do not reach a gateway that is being destroyed.
Process::~Process() {
  if (!host_) return;
  host_->logs().listen({});
  if (gateway_ != nullptr) gateway_->on_spans_wanted({});
  host_->stop();
}

// The process sends the first message, Hello, and the launcher answers with the plan.
int Process::run() {
  link_.send(Hello{name_, ::getpid(), std::string(host_abi_tag())});
  loop_.after(kHeartbeat, [this] { beat(); });
  loop_.run();
  return life_.phase() == ProcessPhase::kFailed ? 1 : 0;
}

void Process::beat() {
  link_.send(Heartbeat{name_, beats_++});
  if (pulse_) pulse_->beat();
  loop_.after(kHeartbeat, [this] { beat(); });
}

// The callbacks run on the loops of the components, but only the control loop may use the link.
ComponentHost::Reports Process::host_reports() {
  return {.run_finished =
              [this](const std::string& component, const std::string& reason, bool success) {
                loop_.post([=, this] { link_.send(RunFinished{component, reason, success}); });
              },
          .failed =
              [this](Component& component, const std::string& what) {
                loop_.post([this, &component, what] { life_.failed(component, what); });
              }};
}

LifeCycle::Reports Process::life_reports() {
  return {.state_changed =
              [this](const std::string& component, State state, const std::string& error) {
                link_.send(StateChanged{component, std::string(name_of(state)), error});
              },
          .configured = [this] { report_configured(); },
          .ended =
              [this] {
                if (spans_) spans_->collect();
                if (gateway_ != nullptr) gateway_->finish();
                loop_.stop();
              }};
}

void Process::on_plan(const ProcessPlan& plan) {
  plan_.emplace(plan, name_);
  host_.emplace(*plan_, host_reports());
  pulse_.emplace(*host_);
  wiring_.emplace(*plan_, *host_, loop_, sockets_, keys_, [this] { link_.send(Connected{name_}); });
  requests_.open(*plan_, *host_);
  std::string at;
  try {
    carry_out(at);
  } catch (...) {
    // The process continues to run and to answer requests, because the launcher decides when it ends.
    link_.send(StateChanged{at, std::string(name_of(State::kError)), describe_current_exception()});
    life_.plan_failed();
  }
}

void Process::carry_out(std::string& at) {
  for (const ComponentPlan& component : plan_->plan().components) {
    at = component.name;
    // The plan lists all components of the run; those of other processes are skipped.
    if (component.process == name_) host_->make(component);
  }
  at.clear();
  wiring_->make_edges();
  open_gateway();
  host_->start();
  life_.configure(*host_);
}

// The gateway is not in the plan, so its context is made here.
void Process::open_gateway() {
  ComponentContext context;
  context.where = "process '" + name_ + "'";
  context.parameters = "{}";
  context.name = name_;
  context.log = host_->logs().logger(name_);
  context.loop = &loop_;
  context.pool = &host_->pool();
  gateway_ = std::make_unique<Gateway>(context, sockets_, plan_->address_of("gateway"),
                                       [this](const std::string& topic) { return host_->find_outputs(topic); });
  requests_.open(*gateway_);
  spans_.emplace(loop_, *plan_, *host_,
                 [this](Spans spans, bool operations) { gateway_->publish(std::move(spans), operations); });
  gateway_->on_spans_wanted([this](bool spans, bool operations) { spans_->want(spans, operations); });
  host_->logs().listen([this](const LogRecord& record) { gateway_->publish(record); });
}

void Process::report_configured() {
  Configured configured{.process = name_};
  for (const auto& [thread, worker] : host_->workers()) {
    if (worker->outlet != nullptr) configured.endpoints[worker->key()] = worker->outlet->endpoint();
  }
  configured.endpoints[name_ + "/gateway"] = gateway_->endpoint();
  link_.send(configured);
}

void Process::on_request(const Request& request) {
  if (request.target.empty() && request.method == "pulse" && pulse_) {
    link_.send(Reply{request.id, true, pulse_->describe()});
  } else {
    requests_.serve(request);
  }
}

void Process::on_transition(const Transition& transition) {
  const auto refuse = [&](const std::string& why) {
    link_.send(StateChanged{transition.component, std::string(name_of(State::kError)), why});
  };
  Component* component = host_ ? host_->find(transition.component) : nullptr;
  if (component == nullptr) return refuse(fmt::format("process '{}' has no such component", name_));
  try {
    life_.bring(*component, from_name<State>(transition.state));
  } catch (const Error& error) {
    refuse(error.what());
  }
}

}  // namespace trainyard::core
