// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/wiring.h"

#include <algorithm>
#include <array>

#include "launch/plan/schema_difference.h"
#include "messages/log_record.h"
#include "messages/message_type.h"
#include "messages/nearest.h"

namespace trainyard::launch {

// The fifth step of the planner makes the edges. Everything that can be known about an edge is decided here: its ends,
// its policy and windows, and how it is carried. An edge that cannot work is refused, with both ends named.

namespace {

/// The messages that hand over blocks of the parameter arena: both ends read and write the same memory.
constexpr std::array<std::string_view, 2> kArenaTypes{"ArenaInfo", "OptimizerState"};

/// Returns the fastest transport that both ends allow; one end with an address, or another host, is enough for TCP.
Transport transport_between(const Draft& from, const Draft& to) {
  if (from.plan.process == to.plan.process) {
    return from.plan.thread == to.plan.thread ? Transport::kThread : Transport::kProcess;
  }
  return from.spec->tcp || to.spec->tcp || from.host != to.host ? Transport::kTcp : Transport::kIpc;
}

// Types are compared by fingerprint, and both schemas are shown in full, so that the reader sees which field differs.
void check_types(const PortRef& from, const PortRef& to) {
  if (from.port->fingerprint == to.port->fingerprint) return;
  throw error_at(to.origin(), to.draft->spec->key,
                 fmt::format("input {} receives {}, but output {} sends {} on {}{}\n--- sent:\n{}\n--- received:\n{}",
                             to.text(), to.port->type, from.text(), from.port->type, to.topic(),
                             schema_difference(from.port->schema, to.port->schema), from.port->schema, to.port->schema),
                 Code::kTypeMismatch);
}

/// Returns true if the edge would hand over blocks of the arena to a component of another host that exists once and
/// takes the arenas of all ranks. It does without this one: memory is shared only within a host
/// (docs/decisions/0033).
bool is_out_of_reach(const PortRef& from, const PortRef& to) {
  return from.draft->host != to.draft->host && to.port->every_rank && to.draft->rank_name.empty() &&
         std::ranges::find(kArenaTypes, from.port->type) != kArenaTypes.end();
}

// The type of the message decides, not the names of components, so a new component that shares the arena is caught as
// well.
void check_arena(const PortRef& from, const PortRef& to, Transport transport) {
  if (transport != Transport::kTcp || std::ranges::find(kArenaTypes, from.port->type) == kArenaTypes.end()) return;
  // The error points to the line that put one of them behind an address or on another host.
  const bool receiver = to.draft->spec->tcp || to.draft->spec->host;
  const Draft& remote = receiver ? *to.draft : *from.draft;
  throw error_at(remote.spec->origin, remote.spec->key + ".host",
                 fmt::format("{} and {} share the parameter arena ({} on {}), which cannot be over TCP; both must have "
                             "host = \"local\", or be in one process",
                             from.draft->plan.name, to.draft->plan.name, from.port->type, to.topic()));
}

/// Some inputs need their senders on the event loop of their owner; the declaration of the port says so.
void check_same_loop(const PortRef& from, const PortRef& to, Transport transport) {
  if (!to.port->same_loop || transport == Transport::kThread) return;
  const ComponentPlan &sender = from.draft->plan, &receiver = to.draft->plan;
  const ComponentSpec& spec = *to.draft->spec;
  throw error_at(
      spec.origin, spec.key,
      fmt::format("its input '{}' needs {} on its own event loop, but '{}' runs on the thread '{}' of the "
                  "process '{}', and '{}' on the thread '{}' of the process '{}'; give both the same process "
                  "and thread",
                  to.port->name, sender.name, receiver.name, receiver.thread, receiver.process, sender.name,
                  sender.thread, sender.process));
}

/// Returns true if the input reads the log. Every process publishes it, so such an input always has senders.
bool reads_log(const PortRef& to) {
  return to.topic() == kLogTopic && to.port->fingerprint == message_type<LogRecord>().fingerprint;
}

void check_connected(const PortRef& to, const Senders& senders, bool connected) {
  if (connected || to.port->optional || reads_log(to)) return;
  // A topic of the same type is more likely to be meant than one with a similar name.
  std::vector<std::string> known;
  for (const auto& [topic, from] : senders) {
    if (from.front().port->fingerprint == to.port->fingerprint && from.front().draft != to.draft) {
      known.push_back(topic);
    }
  }
  if (known.empty()) {
    for (const auto& [topic, from] : senders) known.push_back(topic);
  }
  throw error_at(to.origin(), to.draft->spec->key,
                 fmt::format("input '{}' is not connected: nobody else sends on {}{}", to.port->name, to.topic(),
                             suggestion(to.topic(), known)));
}

// The receiver decides how it is served, and the launch file overrides the receiver.
EdgePlan make_edge(const PortRef& from, const PortRef& to) {
  EdgePlan edge;
  edge.topic = from.topic();
  edge.from = from.draft->plan.index;
  edge.output = from.port->name;
  edge.to = to.draft->plan.index;
  edge.input = to.port->name;
  edge.transport = transport_between(*from.draft, *to.draft);
  const auto& inputs = to.draft->spec->inputs;
  const auto found = inputs.find(to.port->name);
  const InputSpec given = found == inputs.end() ? InputSpec{} : found->second;
  edge.policy = given.policy.value_or(to.port->policy);
  edge.window_messages = given.window_messages.value_or(to.port->window_messages);
  edge.window_bytes = given.window_bytes.value_or(to.port->window_bytes);
  return edge;
}

void connect_topic(const PortRef& to, const std::vector<PortRef>& senders, std::vector<EdgePlan>& edges) {
  for (const PortRef& from : senders) {
    if (from.draft == to.draft) continue;  // A component that received its own messages would fill its own window.
    check_types(from, to);
    if (is_out_of_reach(from, to)) continue;
    edges.push_back(make_edge(from, to));
    edges.back().id = static_cast<std::uint32_t>(edges.size() - 1);
    check_arena(from, to, edges.back().transport);
    check_same_loop(from, to, edges.back().transport);
  }
}

void connect_input(const PortRef& to, const Senders& senders, std::vector<EdgePlan>& edges) {
  const std::size_t before = edges.size();
  for (const std::string& topic : topics_heard(to)) {
    if (const auto found = senders.find(topic); found != senders.end()) connect_topic(to, found->second, edges);
  }
  check_connected(to, senders, edges.size() > before);
}

}  // namespace

// The loop is over inputs, not outputs, because an input may lack a sender.
std::vector<EdgePlan> connect(const std::vector<Draft>& drafts, const Senders& senders) {
  std::vector<EdgePlan> edges;
  for (const Draft& draft : drafts) {
    for (const core::PortInfo& port : draft.info->inputs) connect_input({&draft, &port}, senders, edges);
  }
  return edges;
}

}  // namespace trainyard::launch
