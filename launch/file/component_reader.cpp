// SPDX-License-Identifier: Apache-2.0
#include "launch/file/component_reader.h"

#include <algorithm>
#include <filesystem>

#include "launch/file/condition.h"
#include "launch/file/table_reader.h"
#include "messages/nearest.h"

namespace trainyard::launch {
namespace {

const std::vector<std::string> kComponentKeys{"plugin",    "command", "declaration", "params",  "when",
                                              "namespace", "remap",   "inputs",      "process", "thread",
                                              "host",      "cpus",    "environment", "respawn", "required"};
/// Keys that are refused for external programs. Such a program has no ports in the plan and no event loop, so the keys
/// would be silently ignored.
const std::vector<std::string> kNotForPrograms{"remap", "inputs", "process", "thread", "host", "namespace"};
/// Keys that are refused for members. A member always has a separate process with one event loop.
const std::vector<std::string> kNotForMembers{"process", "thread"};
const std::vector<std::string> kGroupKeys{"namespace", "when", "environment", "component"};

/// The table that contains a component, and what it specifies for all its components.
struct Surroundings {
  std::string key;         ///< The key of the table, such as "" or "group.eval".
  std::string name_space;  ///< The namespace of the table, such as "" or "eval".
  std::map<std::string, std::string> environment;
  /// The names of the other components in the table that have a plugin or a command, for suggestions.
  std::vector<std::string> names = {};
};

/// Returns the value of `when`. If it is false, the component or group is ignored, and its other keys are not read.
bool enabled(const TableReader& table) {
  const Value* when = table.find("when");
  return when == nullptr || holds(*when, table.key("when"));
}

std::string join_names(const std::string& outer, const std::string& inner) {
  return outer.empty() ? inner : inner.empty() ? outer : outer + "/" + inner;
}

/// Returns a text with its origin, for errors that are found when other parts of the file are known.
std::optional<Word> word(const TableReader& table, const std::string& name) {
  if (!table.has(name)) return std::nullopt;
  return Word{table.name(name, ""), table.find(name)->origin};
}

/// Reads the key `host`: "local", an address of the loopback device, or a host of the run.
void read_host(const TableReader& table, ComponentSpec& spec) {
  const Value* value = table.find("host");
  if (value == nullptr) return;
  if (const auto* number = value->get_if<std::int64_t>()) {
    spec.host = Word{std::to_string(*number), value->origin};
    return;
  }
  const std::string host = table.text("host", "local");
  spec.tcp = host == "127.0.0.1" || host == "localhost";
  // The planner checks later whether the run has this host.
  if (!spec.tcp && host != "local") spec.host = Word{host.substr(0, 200), value->origin};
}

RespawnPolicy read_respawn(const TableReader& component) {
  RespawnPolicy policy;
  const Value* value = component.find("respawn");
  if (value == nullptr) return policy;
  // `respawn = "always"` is a short form for a table that contains only the policy.
  if (value->get_if<Value::Table>() == nullptr) {
    policy.when = component.word("respawn", RespawnPolicy::When::kNever);
    return policy;
  }
  const TableReader table(*value, component.key("respawn"), {"policy", "delay_ms", "max", "window_ms"});
  policy.when = table.word("policy", RespawnPolicy::When::kNever);
  policy.delay = std::chrono::milliseconds(table.integer("delay_ms", policy.delay.count(), 0, kMaxMilliseconds));
  policy.max = static_cast<std::uint32_t>(table.integer("max", policy.max, 1, 1'000'000));
  policy.window = std::chrono::milliseconds(table.integer("window_ms", policy.window.count(), 1, kMaxMilliseconds));
  return policy;
}

/// Reads the properties of inputs. The planner checks later whether the plugin has these ports.
std::map<std::string, InputSpec> read_inputs(const TableReader& component) {
  std::map<std::string, InputSpec> inputs;
  const Value* value = component.find("inputs");
  if (value == nullptr) return inputs;
  const std::string key = component.key("inputs");
  for (const auto& [port, options] : table_of(*value, key)) {
    const TableReader table(options, join_key(key, port), {"policy", "window_messages", "window_bytes"});
    InputSpec& input = inputs[port];
    input.origin = options.origin;
    if (table.has("policy")) input.policy = table.word("policy", Policy::kBlock);
    if (table.has("window_messages")) input.window_messages = table.integer("window_messages", 0, 1);
    if (table.has("window_bytes")) input.window_bytes = table.integer("window_bytes", 0, 1);
  }
  return inputs;
}

/// Returns the topic of each port, as written. The planner checks later whether the plugin has these ports.
std::map<std::string, Word> read_remap(const TableReader& component) {
  std::map<std::string, Word> remap;
  for (const auto& [port, topic] : component.text_table("remap")) {
    remap[port] = {topic, component.find("remap")->find(port)->origin};
  }
  return remap;
}

/// Returns "; did you mean 'data_loader'?" if the name is similar to that of another component, and otherwise an empty
/// text.
std::string other_component(const std::string& name, const Surroundings& outer) {
  const std::string meant = nearest(name, outer.names);
  return meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant);
}

/// Returns the value of the key `declaration` of a member. A path is relative to the file that contains it, and is
/// returned with the folder of this file.
std::optional<Word> read_declaration(const TableReader& table) {
  if (!table.has("declaration")) return std::nullopt;
  Word word{table.text("declaration", ""), table.find("declaration")->origin};
  if (word.text.empty())
    throw not_allowed(*table.find("declaration"), table.key("declaration"), "\"describe\" or the path of a JSON file");
  if (word.text == kDescribe) return word;
  word.text = (std::filesystem::path(word.origin.file).parent_path() / word.text).string();
  return word;
}

/// Throws if the keys do not describe exactly one of a plugin, an external program and a member.
void check_kind(const TableReader& table, const ComponentSpec& spec, const std::string& other) {
  if (table.has("plugin") == table.has("command")) {
    throw error_at(spec.origin, spec.key,
                   table.has("plugin") ? "has plugin and command; only one of them can be"
                                       : "needs plugin = \"name\" or command = [\"program\", ...]" + other);
  }
  if (table.has("plugin")) {
    if (!spec.declaration) return;
    throw error_at(spec.declaration->origin, table.key("declaration"), "is not for a plugin, which declares itself");
  }
  if (spec.command.empty()) throw not_allowed(*table.find("command"), table.key("command"), "a program and arguments");
  for (const std::string& name : spec.is_member() ? kNotForMembers : kNotForPrograms) {
    if (!table.has(name)) continue;
    throw error_at(table.find(name)->origin, table.key(name),
                   spec.is_member() ? "is not for a member, which is a process of its own with one event loop"
                                    : "is not for an external program; only for a plugin, or for a program with the "
                                      "key 'declaration'");
  }
}

std::optional<ComponentSpec> read_component(const std::string& name, const Value& value, const Surroundings& outer) {
  ComponentSpec spec;
  spec.key = join_key(join_key(outer.key, "component"), name);
  spec.origin = value.origin;
  check_name(value, spec.key, name);
  const TableReader table(value, spec.key, kComponentKeys);
  // `when` is read first, because errors in a disabled component must not matter.
  if (!enabled(table)) return std::nullopt;
  spec.name_space = join_names(outer.name_space, table.name("namespace", ""));
  spec.name = join_names(spec.name_space, name);
  if (table.has("plugin")) spec.plugin = {table.text("plugin", ""), table.find("plugin")->origin};
  spec.command = table.texts("command");
  spec.declaration = read_declaration(table);
  // The kind is checked before the other keys, because it determines which of them are allowed.
  check_kind(table, spec, other_component(name, outer));
  const Value* parameters = table.find("params");
  spec.parameters = parameters == nullptr ? Value{Value::Table{}, value.origin} : *parameters;
  table_of(spec.parameters, table.key("params"));
  spec.remap = read_remap(table);
  spec.inputs = read_inputs(table);
  spec.environment = read_environment(table);
  // insert() does not replace existing values, so the component's own values take precedence over those of its group.
  spec.environment.insert(outer.environment.begin(), outer.environment.end());
  spec.process = word(table, "process");
  spec.thread = word(table, "thread");
  read_host(table, spec);
  spec.cpus = table.indices("cpus");
  spec.respawn = read_respawn(table);
  spec.required = table.flag("required", true);
  return spec;
}

void add_components(const Value* components, Surroundings outer, std::vector<ComponentSpec>& out) {
  if (components == nullptr) return;
  for (const auto& [name, value] : table_of(*components, join_key(outer.key, "component"))) {
    if (value.find("plugin") != nullptr || value.find("command") != nullptr) outer.names.push_back(name);
  }
  for (const auto& [name, value] : table_of(*components, join_key(outer.key, "component"))) {
    if (auto spec = read_component(name, value, outer)) out.push_back(std::move(*spec));
  }
}

/// Adds the components of a group. Groups cannot be nested, but the namespace of a group can have several parts.
void add_group(const std::string& name, const Value& value, std::vector<ComponentSpec>& out) {
  Surroundings outer{.key = "group." + name};
  check_name(value, outer.key, name);
  const TableReader table(value, outer.key, kGroupKeys);
  if (!enabled(table)) return;
  outer.name_space = table.name("namespace", "");
  outer.environment = read_environment(table);
  add_components(table.find("component"), outer, out);
}

}  // namespace

std::vector<ComponentSpec> read_components(const Value& root) {
  std::vector<ComponentSpec> specs;
  add_components(root.find("component"), {}, specs);
  if (const Value* groups = root.find("group")) {
    for (const auto& [name, value] : table_of(*groups, "group")) add_group(name, value, specs);
  }
  // Components are sorted by name, so that their indices, and thus the whole plan, do not depend on their order in the
  // file.
  std::ranges::stable_sort(specs, {}, &ComponentSpec::name);
  const auto twice = std::ranges::adjacent_find(specs, {}, &ComponentSpec::name);
  if (twice != specs.end()) {
    throw error_at(std::next(twice)->origin, std::next(twice)->key,
                   fmt::format("the name '{}' is taken by {} ({})", twice->name, twice->key, to_text(twice->origin)));
  }
  return specs;
}

}  // namespace trainyard::launch
