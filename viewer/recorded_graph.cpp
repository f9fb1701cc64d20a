// SPDX-License-Identifier: Apache-2.0
#include "viewer/recorded_graph.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "core/config/bounded_json.h"
#include "recordings/recording.h"
#include "viewer/graph.h"
#include "visitors/json_fields.h"
#include "visitors/run_observer.h"

namespace trainyard::viewer {
namespace {

using nlohmann::json;
using visitors::Observation;
using visitors::text_in;

/// The largest number of edges in the graph; further edges are left out. A run with a thousand ranks has fewer.
constexpr std::size_t kMaxEdges = 50'000;

std::string text_of(const recordings::ChannelRecord& channel, const char* key) {
  const auto found = channel.metadata.find(key);
  return found == channel.metadata.end() ? std::string() : found->second;
}

bool has_topic(const json& node, const char* key, const std::string& topic) {
  const auto list = node.find(key);
  return list != node.end() && list->is_array() && std::ranges::find(*list, json(topic)) != list->end();
}

void add_edges(const json& sender, const json& nodes, const RecordedTraffic& traffic, Observation& observation) {
  const auto outputs = sender.find("outputs");
  if (outputs == sender.end() || !outputs->is_array()) return;
  const std::string from = text_in(sender, "component");
  for (const json& output : *outputs) {
    const std::string topic = output.is_string() ? output.get<std::string>() : "";
    for (const json& receiver : nodes) {
      const std::string to = text_in(receiver, "component");
      if (to == from || !has_topic(receiver, "inputs", topic) || observation.edges.size() >= kMaxEdges) continue;
      visitors::ObservedEdge edge{.number = observation.edges.size(), .topic = topic, .from = from, .to = to};
      edge.messages_per_s = traffic.rate(topic, from);
      observation.edges.push_back(std::move(edge));
    }
  }
}

void add_nodes(const json& nodes, const RecordedTraffic& traffic, Observation& observation) {
  for (const json& node : nodes) {
    if (!node.is_object()) continue;
    visitors::ObservedNode made{.name = text_in(node, "component"), .plugin = text_in(node, "plugin")};
    made.process = text_in(node, "process");
    made.rank = visitors::count_in(node, "rank");
    observation.nodes.push_back(std::move(made));
    add_edges(node, nodes, traffic, observation);
  }
}

void add_senders(const RecordedTraffic& traffic, Observation& observation) {
  for (const auto& [key, sender] : traffic.senders) {
    const std::string& component = key.second;
    if (component.empty() ||
        std::ranges::find(observation.nodes, component, &visitors::ObservedNode::name) != observation.nodes.end()) {
      continue;
    }
    visitors::ObservedNode made{.name = component, .plugin = component};
    made.process = sender.process;
    observation.nodes.push_back(std::move(made));
  }
}

}  // namespace

void RecordedTraffic::add(const recordings::Contents& contents) {
  for (const auto& [id, channel] : contents.channels) {
    Sender& sender = senders[{channel.topic, text_of(channel, recordings::kComponentKey)}];
    sender.process = text_of(channel, recordings::kProcessKey);
    const auto messages = contents.statistics.channel_messages.find(id);
    if (messages != contents.statistics.channel_messages.end()) sender.messages += messages->second;
  }
  if (contents.statistics.messages == 0) return;
  start_ns = start_ns == 0 ? contents.statistics.start_time : std::min(start_ns, contents.statistics.start_time);
  end_ns = std::max(end_ns, contents.statistics.end_time);
}

std::optional<double> RecordedTraffic::rate(const std::string& topic, const std::string& component) const {
  const auto sender = senders.find({topic, component});
  if (sender == senders.end() || end_ns <= start_ns) return {};
  return static_cast<double>(sender->second.messages) / (static_cast<double>(end_ns - start_ns) * 1e-9);
}

json graph_of_recording(const std::string& components, const RecordedTraffic& traffic) {
  Observation observation;
  const std::optional<json> nodes = components.empty() ? std::nullopt : parse_bounded_json(components);
  if (nodes && nodes->is_array()) {
    add_nodes(*nodes, traffic, observation);
  } else {
    add_senders(traffic, observation);
  }
  json graph = graph_of(observation, static_cast<std::int64_t>(traffic.end_ns));
  // A recording does not contain how many messages an edge has dropped and how often it was blocked.
  for (json& edge : graph["edges"]) edge["dropped"] = edge["blocked"] = nullptr;
  return graph;
}

}  // namespace trainyard::viewer
