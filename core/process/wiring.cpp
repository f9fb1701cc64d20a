// SPDX-License-Identifier: Apache-2.0
#include "core/process/wiring.h"

#include <algorithm>

#include "core/edge/local_edge.h"
#include "core/edge/queue_edge.h"
#include "messages/error.h"
#include "messages/limits.h"

namespace trainyard::core {
namespace {

/// Finds the port of an edge. The port may be missing, because the plan was made from a description of the plugin, and
/// the library may have been rebuilt since then.
template <class Port>
Port& find_port(const Component& component, const std::vector<Port*>& ports, const std::string& name) {
  const auto found = std::ranges::find(ports, name, [](const Port* port) { return port->name(); });
  if (found != ports.end()) return **found;
  throw Error(Code::kNotFound, "{} has no port '{}', which the plan connects; was its plugin replaced?",
              component.where(), name);
}

/// Detaches the edges in `lost`, whose receivers were in the process `dead`, so that nothing waits for them. Edges
/// whose receiver has been restarted and has subscribed again are left alone.
void give_up(const Outlet& outlet, const std::set<std::uint32_t>& lost, pid_t dead) {
  for (const auto& edge : outlet.edges()) {
    if (!lost.contains(edge->id()) || edge->has_successor_of(dead)) continue;
    edge->detach();
    edge->receiver_gone();
  }
}

}  // namespace

Wiring::Wiring(const PlanView& plan, ComponentHost& host, EventLoop& control, zmq::context_t& sockets,
               const RunKeys& keys, std::function<void()> connected)
    : plan_(plan), host_(host), control_(control), sockets_(sockets), keys_(keys), connected_(std::move(connected)) {}

void Wiring::make_edges() {
  for (const EdgePlan& edge : plan_.plan().edges) make_edge(edge);
  for (const EdgePlan& edge : log_edges()) count_connection(edge);
}

// The receiving end of an edge from another process is made later, in connect(), when the address of its publisher is
// known. Here such an edge is only counted as a connection of its input.
void Wiring::make_edge(const EdgePlan& edge) {
  const Policy policy = edge.policy;
  if (plan_.is_mine(edge.to)) {
    count_connection(edge);
    input_of(edge).add_sender(edge.from);
  }
  if (!plan_.is_mine(edge.from)) return;
  const Component& from = host_.component(edge.from);
  OutputBase& output = find_port(from, from.outputs(), edge.output);
  if (plan_.is_mine(edge.to)) return make_inner_edge(edge, output, policy);
  // The edge leads to another process. The sender's thread publishes, and the receiver will subscribe.
  const std::string address = plan_.address_of(plan_.component(edge.from).thread);
  Outlet& outlet = host_.worker_of(edge.from).open_outlet(sockets_, address, host_.pool(), keys_);
  Edge& made = outlet.add_edge(output, edge.topic, edge.id, policy, edge.window_messages, edge.window_bytes);
  made.set_receiver(edge.to);
  output.add_edge(made);
}

void Wiring::make_inner_edge(const EdgePlan& edge, OutputBase& output, Policy policy) {
  Worker& sender = host_.worker_of(edge.from);
  Worker& receiver = host_.worker_of(edge.to);
  InputBase& input = input_of(edge);
  if (&sender == &receiver) {
    sender.edges.push_back(std::make_unique<LocalEdge>(output, input, sender.loop, edge.id, policy,
                                                       edge.window_messages, edge.window_bytes));
  } else {
    auto made = std::make_unique<QueueEdge>(output, input, sender.loop, receiver.loop, edge.id, policy,
                                            edge.window_messages, edge.window_bytes);
    sender.loop.add(made->credit_source());
    receiver.loop.add(made->message_source());
    sender.edges.push_back(std::move(made));
  }
  sender.edges.back()->set_receiver(edge.to);
  output.add_edge(*sender.edges.back());
}

InputBase& Wiring::input_of(const EdgePlan& edge) const {
  const Component& to = host_.component(edge.to);
  return find_port(to, to.inputs(), edge.input);
}

void Wiring::count_connection(const EdgePlan& edge) {
  InputBase& input = input_of(edge);
  input.set_connections(input.connections() + 1);
}

/// Returns edges for the inputs of this process that listen to the log. Every process publishes the log, so the plan
/// does not contain these edges. Instead, the input subscribes to the gateways of all processes, including its own
/// process, in the way in which visitors do: over a socket, and without delaying a sender.
std::vector<EdgePlan> Wiring::log_edges() const {
  std::vector<EdgePlan> edges;
  for (const auto& [index, component] : host_.components()) {
    const auto& topics = plan_.component(index).topics;
    for (const InputBase* input : component->inputs()) {
      const auto topic = topics.find(input->name());
      if (topic == topics.end() || topic->second != kLogTopic) continue;
      if (input->type().fingerprint != message_type<LogRecord>().fingerprint) continue;
      edges.push_back({.id = kVisitorEdge,
                       .topic = kLogTopic,
                       .to = index,
                       .input = input->name(),
                       .policy = Policy::kDropOldest,
                       .window_messages = std::min(input->options().window_messages, kMaxVisitorWindow),
                       .window_bytes = std::min(input->options().window_bytes, kMaxVisitorWindowBytes),
                       .transport = Transport::kTcp});
    }
  }
  return edges;
}

// There is one inlet for each pair of threads that communicate, however many edges there are between them.
std::map<std::string, Wiring::WantedInlet> Wiring::wanted_inlets(const Connect& connect) const {
  std::map<std::string, WantedInlet> wanted;
  const auto want = [&](const EdgePlan& edge, const std::string& from) {
    Worker& worker = host_.worker_of(edge.to);
    WantedInlet& each = wanted[worker.key() + " <- " + from];
    each.worker = &worker;
    each.from = from;
    each.edges.push_back(edge);
  };
  for (const EdgePlan& edge : plan_.plan().edges) {
    if (plan_.is_mine(edge.from) || !plan_.is_mine(edge.to)) continue;
    // The publisher has announced its address under this key (Configured).
    want(edge, plan_.component(edge.from).process + "/" + plan_.component(edge.from).thread);
  }
  for (const EdgePlan& edge : log_edges()) {
    for (const auto& [key, endpoint] : connect.endpoints) {
      if (key.ends_with("/gateway")) want(edge, key);
    }
  }
  return wanted;
}

void Wiring::connect(const Connect& connect) {
  const std::map<std::string, WantedInlet> wanted = wanted_inlets(connect);
  // All inlets are listed before the first one connects, so that an early answer is not mistaken for the last one.
  for (const auto& [inlet, each] : wanted) unconnected_.insert(inlet);
  for (const auto& [inlet, each] : wanted) {
    const auto endpoint = connect.endpoints.find(each.from);
    // A publisher that is not running yet has no address; a later Connect will contain it. Until then the inlet stays
    // unconnected. If this lasts too long, the launcher reports it.
    if (endpoint == connect.endpoints.end()) continue;
    each.worker->loop.post(
        [this, inlet = inlet, each = each, address = endpoint->second] { open_inlet(inlet, each, address); });
  }
  if (wanted.empty()) connected_();
}

// If another process was restarted, a further Connect arrives, and the inlet to this publisher may exist already. If it
// is still being connected, its callback will report this.
void Wiring::open_inlet(const std::string& inlet, const WantedInlet& wanted, const std::string& endpoint) {
  const auto known = wanted.worker->inlets.find(wanted.from);
  if (known == wanted.worker->inlets.end()) {
    subscribe(inlet, wanted, endpoint);
  } else if (known->second->connected()) {
    control_.post([this, inlet] { acknowledge(inlet); });
  }
}

// The socket is made on the loop that will poll it, because a libzmq socket may be used by one thread only.
void Wiring::subscribe(const std::string& inlet, const WantedInlet& wanted, const std::string& endpoint) {
  Worker& worker = *wanted.worker;
  auto& made = worker.inlets[wanted.from];
  // A gateway treats every subscriber as a visitor and uses no keys.
  const bool visits = wanted.from.ends_with("/gateway");
  made =
      std::make_unique<Inlet>(sockets_, endpoint, plan_.plan().process_index, worker.loop, visits ? RunKeys() : keys_);
  made->on_connected([this, inlet] { control_.post([this, inlet] { acknowledge(inlet); }); });
  // A refused subscription makes the component fail that owns the input, because it cannot work without the messages.
  made->on_error([](InputBase& input, const std::string& what) { input.owner().fail(what); });
  for (const EdgePlan& edge : wanted.edges) made->subscribe(input_of(edge), edge);
  worker.loop.add(*made);
}

void Wiring::acknowledge(const std::string& inlet) {
  unconnected_.erase(inlet);
  if (unconnected_.empty()) connected_();
}

void Wiring::peer_gone(const PeerGone& peer) {
  // The references of the dead process are removed first, so that memory becomes free early.
  host_.pool().forget(peer.process_index, peer.pid);
  std::set<std::uint32_t> lost;  // The planned edges whose receiver has died.
  for (const EdgePlan& edge : plan_.plan().edges) {
    if (plan_.is_mine(edge.from) && plan_.component(edge.to).process == peer.process) lost.insert(edge.id);
  }
  for (const auto& [thread, worker] : host_.workers()) {
    worker->loop.post([each = worker.get(), process = peer.process, pid = peer.pid, lost] {
      if (each->outlet != nullptr) give_up(*each->outlet, lost, pid);
      // A restarted publisher gets a new inlet with the next Connect.
      each->retire_inlets(process);
    });
  }
}

}  // namespace trainyard::core
