// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/wiring.h"

#include <algorithm>
#include <array>

#include "launch/plan/schema_difference.h"
#include "messages/log_record.h"
#include "messages/message_type.h"
#include "messages/nearest.h"

namespace trainyard::launch {

// In its fifth step, the planner makes the edges, and determines their ends, policies, windows and transports. It
// refuses an edge that cannot work; the error names both ends.

namespace {

/// The types of the messages that contain handles to blocks of the arena, the memory with the parameters. Both ends of
/// such an edge use the same memory.
constexpr std::array<std::string_view, 2> kArenaTypes{"ArenaInfo", "OptimizerState"};

/// Returns the fastest transport that both ends allow. If one end has an address or is on another host, this is TCP.
Transport transport_between(const Draft& from, const Draft& to) {
  if (from.plan.process == to.plan.process) {
    return from.plan.thread == to.plan.thread ? Transport::kThread : Transport::kProcess;
  }
  return from.spec->tcp || to.spec->tcp || from.host != to.host ? Transport::kTcp : Transport::kIpc;
}

// Throws if the fingerprints of the types differ. The error shows both schemas, so that the user sees which field
// differs.
void check_types(const PortRef& from, const PortRef& to) {
  if (from.port->fingerprint == to.port->fingerprint) return;
  throw error_at(to.origin(), to.draft->spec->key,
                 fmt::format("input {} receives {}, but output {} sends {} on {}{}\n--- sent:\n{}\n--- received:\n{}",
                             to.text(), to.port->type, from.text(), from.port->type, to.topic(),
                             schema_difference(from.port->schema, to.port->schema), from.port->schema, to.port->schema),
                 Code::kTypeMismatch);
}

/// Returns true if the edge would pass blocks of the arena to a component that exists once, uses the arenas of all
/// ranks and is on another host. Such an edge is left out, because memory is shared only within a host
/// (docs/decisions/0033).
bool is_out_of_reach(const PortRef& from, const PortRef& to) {
  return from.draft->host != to.draft->host && to.port->every_rank && to.draft->rank_name.empty() &&
         std::ranges::find(kArenaTypes, from.port->type) != kArenaTypes.end();
}

// Throws if components that share the arena would be connected over TCP. The type of the message is checked and not the
// names of the components, so this applies to new components, too.
void check_arena(const PortRef& from, const PortRef& to, Transport transport) {
  if (transport != Transport::kTcp || std::ranges::find(kArenaTypes, from.port->type) == kArenaTypes.end()) return;
  // The error points to the line that gives one of the components an address or another host.
  const bool receiver = to.draft->spec->tcp || to.draft->spec->host;
  const Draft& remote = receiver ? *to.draft : *from.draft;
  throw error_at(remote.spec->origin, remote.spec->key + ".host",
                 fmt::format("{} and {} share the parameter arena ({} on {}), which cannot be over TCP; both must have "
                             "host = \"local\", or be in one process",
                             from.draft->plan.name, to.draft->plan.name, from.port->type, to.topic()));
}

/// Throws if the declaration of the input requires that its senders run on the same event loop, but they do not.
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
  // Topics with the same message type are suggested first, because the user most likely means one of them.
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

// The policy and the window of an edge come from the declaration of the input, unless the launch file overrides them.
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
    if (from.draft == to.draft) continue;  // If a component received its own messages, it could wait for itself.
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

// The loop goes over the inputs, because an input without a sender must be detected.
std::vector<EdgePlan> connect(const std::vector<Draft>& drafts, const Senders& senders) {
  std::vector<EdgePlan> edges;
  for (const Draft& draft : drafts) {
    for (const core::PortInfo& port : draft.info->inputs) connect_input({&draft, &port}, senders, edges);
  }
  return edges;
}

}  // namespace trainyard::launch
