// SPDX-License-Identifier: Apache-2.0
#include "launch/run/registry_answers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "launch/run/gateway_address.h"
#include "messages/log_record.h"
#include "messages/spans.h"

namespace trainyard::launch {

// The answers come from the plan, from the reports of processes, and from the descriptions of plugins. No process is
// asked, so they are available immediately, even while a component is busy.

namespace {

using nlohmann::json;

std::string topic_of(const ComponentPlan& component, const std::string& port) {
  const auto topic = component.topics.find(port);
  return topic == component.topics.end() ? std::string() : topic->second;
}

/// Returns the ports in the order of their declaration, each with its topic in the plan.
json ports_of(const ComponentPlan& component, const std::vector<core::PortInfo>& ports) {
  json list = json::array();
  for (const core::PortInfo& port : ports) {
    list.push_back({{"port", port.name}, {"topic", topic_of(component, port.name)}, {"type", port.type}});
  }
  return list;
}

/// Returns a fingerprint as a text, because many JSON readers keep only 53 bits of a number.
std::string hexadecimal(std::uint64_t fingerprint) { return fmt::format("{:016x}", fingerprint); }

/// Returns a topic without publishers and subscribers, which the functions below add.
json new_topic(const std::string& name, const std::string& type, std::uint64_t fingerprint, const std::string& schema) {
  return {{"topic", name},
          {"type", type},
          {"fingerprint", hexadecimal(fingerprint)},
          {"schema", schema},
          {"latched", false},
          {"publishers", json::array()},
          {"subscribers", json::array()}};
}

using Topics = std::map<std::string, json>;

/// Adds the outputs of the plan as publishers, even if their processes have not been started yet.
void add_outputs(const RunContext& run, Topics& topics) {
  for (const ComponentPlan& component : run.plan.components) {
    const core::PluginInfo* plugin = run.declaration_of(component);
    if (plugin == nullptr) continue;
    for (const core::PortInfo& port : plugin->outputs) {
      const std::string name = topic_of(component, port.name);
      if (!topics.contains(name)) topics[name] = new_topic(name, port.type, port.fingerprint, port.schema);
      if (port.latched) topics[name]["latched"] = true;
      topics[name]["publishers"].push_back({{"component", component.name},
                                            {"process", component.process},
                                            {"endpoint", gateway_address(run, component.process)}});
    }
  }
}

/// Adds an entry unless it is in the list already. A component that receives a topic from several publishers has
/// several edges, but is one subscriber.
void add_once(json& list, json entry) {
  if (std::ranges::find(list, entry) == list.end()) list.push_back(std::move(entry));
}

/// Adds the components that receive the topics. The launcher does not know which visitors have subscribed.
void add_subscribers(const RunContext& run, Topics& topics) {
  for (const EdgePlan& edge : run.plan.edges) {
    const auto topic = topics.find(edge.topic);
    if (topic == topics.end()) continue;
    const ComponentPlan& reader = run.plan.components[edge.to];
    add_once(topic->second["subscribers"],
             {{"component", reader.name}, {"process", reader.process}, {"policy", name_of(edge.policy)}});
  }
}

/// Adds the topic of the log, which every process publishes.
void add_log(const RunContext& run, Topics& topics) {
  const MessageType& type = message_type<LogRecord>();
  json& topic = topics[kLogTopic];
  if (topic.is_null()) topic = new_topic(kLogTopic, type.name, type.fingerprint, type.schema_text);
  for (const auto& child : run.crew.children()) {
    if (!child->has_components()) continue;
    topic["publishers"].push_back(
        {{"component", ""}, {"process", child->name()}, {"endpoint", gateway_address(run, child->name())}});
  }
}

/// Adds the topic of the spans, which every process publishes that hosts plugins. Members in other languages do not
/// publish it.
void add_spans(const RunContext& run, Topics& topics) {
  const MessageType& type = message_type<Spans>();
  for (const char* name : {kSpansTopic, kOperationsTopic}) {
    json topic = new_topic(name, type.name, type.fingerprint, type.schema_text);
    for (const auto& child : run.crew.children()) {
      if (!child->has_components() || child->planned().member) continue;
      topic["publishers"].push_back(
          {{"component", ""}, {"process", child->name()}, {"endpoint", gateway_address(run, child->name())}});
    }
    if (!topic["publishers"].empty()) topics.emplace(name, std::move(topic));
  }
}

/// Adds the components that receive the log. They are connected to every process, without edges in the plan.
void add_log_readers(const RunContext& run, Topics& topics) {
  for (const ComponentPlan& component : run.plan.components) {
    if (!listens_to_log(run, component)) continue;
    add_once(topics[kLogTopic]["subscribers"],
             {{"component", component.name}, {"process", component.process}, {"policy", name_of(Policy::kDropOldest)}});
  }
}

json services_of(const core::PluginInfo& plugin) {
  json list = json::array();
  for (const core::ServiceInfo& service : plugin.services) {
    list.push_back({{"service", service.name},
                    {"request", service.request_schema},
                    {"reply", service.reply_schema},
                    {"help", service.help}});
  }
  return list;
}

/// Returns the description of a component, with the state that it has reported last.
json describe_component_node(const RunContext& run, const ComponentPlan& component) {
  const ChildProcess* child = run.crew.find(component.process);
  json node = {{"component", component.name},
               {"index", component.index},
               {"plugin", component.plugin},
               {"library", component.library},
               {"process", component.process},
               {"thread", component.thread},
               {"rank", component.rank},
               {"pid", child != nullptr ? child->pid() : 0},
               {"restarts", child != nullptr ? child->restarts() : 0},
               {"state", state_name(run.states[component.index])},
               {"inputs", json::array()},
               {"outputs", json::array()},
               {"services", json::array()},
               {"service_types", json::array()}};
  if (child != nullptr && child->planned().member) node["command"] = child->planned().command;
  const core::PluginInfo* plugin = run.declaration_of(component);
  if (plugin == nullptr) return node;
  node["inputs"] = ports_of(component, plugin->inputs);
  node["outputs"] = ports_of(component, plugin->outputs);
  for (const core::ServiceInfo& service : plugin->services) node["services"].push_back(service.name);
  node["service_types"] = services_of(*plugin);
  // A component that exists once belongs to no rank.
  if (!plugin->component_traits().per_rank) node["rank"] = nullptr;
  return node;
}

/// Returns the description of an external program. It has no ports, because it can attach to the run only as a visitor.
json describe_program_node(const ChildProcess& child) {
  return {{"component", child.name()},
          {"plugin", ""},
          {"process", child.name()},
          {"command", child.planned().command},
          {"pid", child.pid()},
          {"restarts", child.restarts()},
          {"state", child.running() ? "running" : "gone"},
          {"inputs", json::array()},
          {"outputs", json::array()},
          {"services", json::array()},
          {"service_types", json::array()}};
}

}  // namespace

// The result contains the content of run.json and more.
json describe_run(const RunContext& run, const RunOutcome& outcome) {
  json processes = json::array();
  for (const auto& child : run.crew.children()) {
    processes.push_back({{"process", child->name()}, {"pid", child->pid()}, {"program", !child->has_components()}});
  }
  return {{"run", run.directory.run()},
          {"name", run.plan.run},
          {"file", run.plan.file},
          {"pid", ::getpid()},
          {"directory", run.directory.path()},
          {"output_directory", (std::filesystem::current_path() / run.plan.output_directory).string()},
          {"seed", run.plan.seed},
          {"world_size", run.plan.world_size},
          {"version", TRAINYARD_VERSION},
          {"state", name_of(outcome.state_so_far())},
          {"reason", outcome.is_known() ? outcome.reason() : std::string()},
          {"processes", processes}};
}

// Topics are sorted by name. Those without a publisher are not listed, even if they have subscribers.
json describe_topics(const RunContext& run) {
  Topics topics;
  add_outputs(run, topics);
  add_log(run, topics);
  add_spans(run, topics);
  add_subscribers(run, topics);
  add_log_readers(run, topics);
  json list = json::array();
  for (const auto& [name, topic] : topics) list.push_back(topic);
  return list;
}

json describe_nodes(const RunContext& run) {
  json nodes = json::array();
  for (const ComponentPlan& component : run.plan.components) nodes.push_back(describe_component_node(run, component));
  for (const auto& child : run.crew.children()) {
    if (!child->has_components()) nodes.push_back(describe_program_node(*child));
  }
  return nodes;
}

std::vector<std::string> component_names(const Plan& plan) {
  std::vector<std::string> names;
  for (const ComponentPlan& component : plan.components) names.push_back(component.name);
  return names;
}

}  // namespace trainyard::launch
