// The part of Process that obeys the launcher: connecting, transitions, the end.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/component/boundary.h"
#include "core/config/nearest.h"
#include "core/process/process.h"
#include "messages/error.h"

namespace trainyard::core {

namespace {

/// Draining is waited for by looking: it happens once in a run, and most edges are empty by then.
constexpr auto kDrainInterval = std::chrono::milliseconds(1);

/// Nothing waits any more for the receivers of these edges, unless one was started again and is here already.
void give_up(const Outlet& outlet, const std::set<std::uint32_t>& lost) {
  for (const auto& edge : outlet.edges()) {
    if (!lost.contains(edge->id()) || edge->reader_lives()) continue;
    edge->detach();
    edge->receiver_gone();
  }
}

}  // namespace

// One inlet for each pair of threads that talk, however many edges there are between them.
std::map<std::string, Process::WantedInlet> Process::wanted_inlets(const Connect& connect) {
  std::map<std::string, WantedInlet> wanted;
  for (const EdgePlan& edge : plan_.edges) {
    if (is_mine(edge.from) || !is_mine(edge.to)) continue;
    const ComponentPlan& from = component_plan(edge.from);
    Worker& worker = *workers_.at(component_plan(edge.to).thread);
    // The key under which the publisher announced its address (Configured).
    const std::string key = from.process + "/" + from.thread;
    WantedInlet& each = wanted[worker.key() + " <- " + key];
    each.worker = &worker;
    each.from = key;
    each.edges.push_back(edge);
  }
  for (const EdgePlan& edge : log_edges()) {
    Worker& worker = *workers_.at(component_plan(edge.to).thread);
    for (const auto& [key, endpoint] : connect.endpoints) {
      if (!key.ends_with("/gateway")) continue;
      WantedInlet& each = wanted[worker.key() + " <- " + key];
      each.worker = &worker;
      each.from = key;
      each.edges.push_back(edge);
    }
  }
  return wanted;
}

void Process::on_connect(const Connect& connect) {
  const std::map<std::string, WantedInlet> wanted = wanted_inlets(connect);
  // All before the first is connected: an answer that comes quickly must not look like the last.
  for (const auto& [inlet, each] : wanted) unconnected_.insert(inlet);
  for (const auto& [inlet, each] : wanted) {
    const auto endpoint = connect.endpoints.find(each.from);
    // A publisher that is not up has no address; it is told in a later Connect.
    if (endpoint == connect.endpoints.end()) continue;  // Stays unconnected; the launcher's deadline names it.
    each.worker->loop.post([this, inlet = inlet, each = each, address = endpoint->second] {
      // A further Connect, because some process was restarted; this publisher was not that one. An inlet that is still
      // being connected reports by itself.
      const auto known = each.worker->inlets.find(each.from);
      if (known == each.worker->inlets.end()) {
        connect_inlet(*each.worker, each.from, address, each.edges);
      } else if (known->second->connected()) {
        loop_.post([this, inlet] { report_connected(inlet); });
      }
    });
  }
  if (wanted.empty()) link_.send(Connected{name_});
}

// On the worker's loop, which will poll the socket: libzmq's sockets belong to one thread.
void Process::connect_inlet(Worker& worker, const std::string& from, const std::string& endpoint,
                            std::vector<EdgePlan> edges) {
  auto& inlet = worker.inlets[from];
  inlet = std::make_unique<Inlet>(zmq_, endpoint, plan_.process_index, worker.loop);
  inlet->on_connected(
      [this, key = worker.key() + " <- " + from] { loop_.post([this, key] { report_connected(key); }); });
  // A refused subscription fails the component that wanted it: it is the one that cannot work.
  inlet->on_error([](InputBase& input, const std::string& what) { input.owner().fail(what); });
  for (const EdgePlan& edge : edges) {
    inlet->subscribe(input_of(edge), edge);
  }
  worker.loop.add(*inlet);
}

void Process::report_connected(const std::string& inlet) {
  unconnected_.erase(inlet);
  if (unconnected_.empty()) link_.send(Connected{name_});
}

void Process::on_peer_gone(const PeerGone& peer) {
  // First of all, so that memory is free before anybody waits for it.
  if (pool_ != nullptr) pool_->forget(peer.process_index);
  std::set<std::uint32_t> lost;  // Edges whose receiver has died; those of visitors are none of the plan's.
  for (const EdgePlan& edge : plan_.edges) {
    if (is_mine(edge.from) && component_plan(edge.to).process == peer.process) lost.insert(edge.id);
  }
  for (auto& [thread, worker] : workers_) {
    worker->loop.post([each = worker.get(), prefix = peer.process + "/", lost] {
      if (each->outlet != nullptr) give_up(*each->outlet, lost);
      // A restarted publisher has another address, and gets another inlet with the next Connect.
      std::erase_if(each->inlets, [&](auto& entry) {
        if (!entry.first.starts_with(prefix)) return false;
        each->loop.remove(*entry.second);
        return true;
      });
    });
  }
}

void Process::on_transition(const Transition& transition) {
  Component* component = find_component(transition.component);
  if (component == nullptr) {
    link_.send(StateChanged{transition.component, "error", fmt::format("process '{}' has no such component", name_)});
    return;
  }
  // The control loop never waits for a hook, however long that takes.
  component->loop().post([this, component, state = transition.state] { bring(*component, state); });
}

void Process::bring(Component& component, const std::string& state) {
  if (component.state() == State::kError) {  // It has been reported; nothing more can be asked of it.
    loop_.post([this, &component, state] { report_state(component, state, ""); });
    return;
  }
  const State target = state == "active" ? State::kActive : state == "inactive" ? State::kInactive : State::kFinalized;
  // Asked again, because a second component has failed meanwhile: it is there and says so when it is drained.
  if (target == State::kInactive && component.state() == State::kInactive) return;
  // Only on the way out: configuring also ends in "inactive", with nothing sent.
  const bool drains = target == State::kInactive && component.state() == State::kActive;
  try {
    // The hook may block, for a checkpoint to be written, say; only this loop waits.
    component.transition(target);
  } catch (...) {
    loop_.post([this, &component, what = describe_current_exception()] { report_state(component, "error", what); });
    return;
  }
  if (drains) {
    for (OutputBase* output : component.outputs()) {
      // Receivers return credit at half a window; without being asked the last few would never come.
      for (Edge* edge : output->edges()) edge->request_flush();
    }
    report_when_drained(component);
  } else {
    loop_.post([this, &component, state] { report_state(component, state, ""); });
  }
}

void Process::report_when_drained(Component& component) {
  const bool drained = std::ranges::all_of(component.outputs(), [](const OutputBase* output) {
    // Readers of dropping edges are not waited for; a visitor must not delay the end.
    return std::ranges::all_of(output->edges(),
                               [](const Edge* edge) { return edge->policy() != Policy::kBlock || edge->drained(); });
  });
  if (drained) {
    loop_.post([this, &component] { report_state(component, "inactive", ""); });
  } else {
    component.loop().after(kDrainInterval, [this, &component] { report_when_drained(component); });
  }
}

// On the control loop. The last component to be configured also says Configured for the process.
void Process::report_state(const Component& component, const std::string& state, const std::string& error) {
  const std::string& name = component.name();
  link_.send(StateChanged{name, state, error});
  if (state == "finalized") {
    finalized(name);
  } else if (unconfigured_.erase(name) != 0 && unconfigured_.empty() && exit_code_ == 0 && state != "error") {
    // The first report of each component is that of its configuration.
    Configured configured{.process = name_};
    for (const auto& [thread, worker] : workers_) {
      if (worker->outlet != nullptr) configured.endpoints[worker->key()] = worker->outlet->endpoint();
    }
    configured.endpoints[name_ + "/gateway"] = gateway_->endpoint();
    link_.send(configured);
  }
}

// Nothing more can be asked of this process: run() returns.
void Process::finalized(const std::string& component) {
  unfinished_.erase(component);
  if (unfinished_.empty()) loop_.stop();
}

}  // namespace trainyard::core
