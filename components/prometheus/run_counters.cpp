// SPDX-License-Identifier: Apache-2.0
#include "components/prometheus/run_counters.h"

#include <fmt/format.h>

#include <utility>

namespace trainyard::prometheus {
namespace {

using visitors::ObservedEdge;
using visitors::ObservedNode;
using visitors::ObservedProcess;

/// Writes a metric with one sample for each connection between components (edge).
template <class Value>
void edge_family(Exposition& text, const std::vector<ObservedEdge>& edges, std::string_view name, Kind kind,
                 std::string_view help, Value value) {
  text.family(name, kind, help);
  for (const ObservedEdge& edge : edges) {
    const std::string number = fmt::format("{}", edge.number);
    if (const std::optional<double> known = value(edge)) {
      text.sample({{"edge", number}, {"topic", edge.topic}, {"from", edge.from}, {"to", edge.to}}, *known);
    }
  }
}

template <class Value>
auto count_of(Value ObservedEdge::*field) {
  return [field](const ObservedEdge& edge) { return std::optional<double>(static_cast<double>(edge.*field)); };
}

}  // namespace

void RunCounters::add(visitors::Observation observation) {
  for (const ObservedNode& node : observation.nodes) {
    if (node.shares) add_up(node);
  }
  last_ = std::move(observation);
}

void RunCounters::add_up(const ObservedNode& node) {
  const visitors::ComponentShares& shares = *node.shares;
  Activity& activity = activity_[node.name];
  activity.busy_seconds += shares.busy * shares.seconds;
  activity.messages += shares.messages_per_s * shares.seconds;
  for (const auto& [target, kind, share] : shares.waiting) {
    const Cause cause{node.name, target, kind};
    if (waiting_seconds_.size() >= kMostCauses && !waiting_seconds_.contains(cause)) continue;
    waiting_seconds_[cause] += share * shares.seconds;
  }
}

void RunCounters::write(Exposition& text) const {
  write_components(text);
  write_activity(text);
  write_edges(text);
  write_processes(text);
}

void RunCounters::write_components(Exposition& text) const {
  text.family("trainyard_component", Kind::kInfo, "The components of the run, their plugins and processes.");
  for (const ObservedNode& node : last_.nodes) {
    text.sample({{"component", node.name}, {"plugin", node.plugin}, {"process", node.process}}, 1);
  }
  text.family("trainyard_component_active", Kind::kGauge, "1 if the component is active, or the program is running.");
  for (const ObservedNode& node : last_.nodes) {
    text.sample({{"component", node.name}}, node.state == "active" || node.state == "running" ? 1 : 0);
  }
  text.family("trainyard_process_restarts", Kind::kCounter, "How often the process was started again.");
  std::map<std::string, std::uint64_t> restarts;  // All components of a process report the same number.
  for (const ObservedNode& node : last_.nodes) restarts[node.process] = node.restarts;
  for (const auto& [process, count] : restarts) text.sample({{"process", process}}, static_cast<double>(count));
}

void RunCounters::write_activity(Exposition& text) const {
  text.family("trainyard_component_busy_seconds", Kind::kCounter, "Time in which the component worked.");
  for (const auto& [name, activity] : activity_) text.sample({{"component", name}}, activity.busy_seconds);
  text.family("trainyard_component_waiting_seconds", Kind::kCounter,
              "Time in which the component waited, and for what.");
  for (const auto& [cause, seconds] : waiting_seconds_) {
    const auto& [component, target, kind] = cause;
    text.sample({{"component", component}, {"for", target}, {"kind", kind}}, seconds);
  }
  text.family("trainyard_component_messages", Kind::kCounter, "Messages that the component has handled.");
  for (const auto& [name, activity] : activity_) text.sample({{"component", name}}, activity.messages);
}

void RunCounters::write_edges(Exposition& text) const {
  const auto& edges = last_.edges;
  edge_family(text, edges, "trainyard_edge_messages", Kind::kCounter, "Messages sent.",
              count_of(&ObservedEdge::messages));
  edge_family(text, edges, "trainyard_edge_bytes", Kind::kCounter, "Bytes sent.", count_of(&ObservedEdge::bytes));
  edge_family(text, edges, "trainyard_edge_dropped_messages", Kind::kCounter,
              "Messages dropped because the receiver was too slow or gone.", count_of(&ObservedEdge::dropped));
  edge_family(text, edges, "trainyard_edge_blocked_messages", Kind::kCounter, "Messages that had to wait for credit.",
              count_of(&ObservedEdge::blocked));
  edge_family(text, edges, "trainyard_edge_queue_messages", Kind::kGauge,
              "Messages that were sent and are not handled yet; only between components of one process.",
              [](const ObservedEdge& edge) {
                return edge.under_way ? std::optional<double>(static_cast<double>(*edge.under_way)) : std::nullopt;
              });
  edge_family(text, edges, "trainyard_edge_queue_limit_messages", Kind::kGauge,
              "The most messages that may be sent and not be handled.", count_of(&ObservedEdge::window));
}

void RunCounters::write_processes(Exposition& text) const {
  text.family("trainyard_process_cpu_seconds", Kind::kCounter, "Processor time of all threads of the process.");
  for (const ObservedProcess& process : last_.processes) {
    if (process.cpu_seconds) text.sample({{"process", process.name}}, *process.cpu_seconds);
  }
  text.family("trainyard_process_resident_memory_bytes", Kind::kGauge,
              "Resident memory of the process, including shared memory.");
  for (const ObservedProcess& process : last_.processes) {
    if (process.memory_bytes.value_or(0) == 0) continue;  // Unknown.
    text.sample({{"process", process.name}}, static_cast<double>(*process.memory_bytes));
  }
}

}  // namespace trainyard::prometheus
