// SPDX-License-Identifier: Apache-2.0
#include "launch/file/overrides.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "launch/file/include.h"
#include "launch/file/text_guard.h"
#include "launch/file/toml_reader.h"
#include "messages/nearest.h"

namespace trainyard::launch {

// A word of the command line names the value that it sets either by its path, or by a single name, which is looked up
// first in the arguments of the file and then in [topology] and [run].

namespace {

const Origin kCommandLine{};

/// Returns the keys of a table, or an empty list for any other value.
std::vector<std::string> keys_of(const Value* value) {
  std::vector<std::string> keys;
  const auto* table = value == nullptr ? nullptr : value->get_if<Value::Table>();
  if (table == nullptr) return keys;
  for (const auto& [key, element] : *table) keys.push_back(key);
  return keys;
}

/// Splits a path such as "run.max_steps" into its parts. Throws for an empty part and for too many parts.
std::vector<std::string> split(const std::string& path) {
  std::vector<std::string> parts;
  for (std::size_t at = 0;;) {
    const std::size_t dot = path.find('.', at);
    parts.push_back(path.substr(at, dot - at));
    if (parts.back().empty() || parts.size() > kMaxKeyParts) {
      throw error_at(kCommandLine, path.substr(0, kMaxKeyBytes),
                     fmt::format("is not allowed; at most {} words with dots between them", kMaxKeyParts));
    }
    if (dot == std::string::npos) return parts;
    at = dot + 1;
  }
}

bool contains(const std::vector<std::string>& names, const std::string& name) {
  return std::ranges::find(names, name) != names.end();
}

/// Returns true if the part at `depth` is the name of a component or group, which must exist.
bool is_name(const std::vector<std::string>& parts, std::size_t depth) {
  if (depth == 1) return parts[0] == "component" || parts[0] == "group";
  return depth == 3 && parts[0] == "group" && parts[2] == "component";
}

/// Throws if a component or group does not exist. Otherwise a typing error in its name would add a new, nearly empty
/// component, and a later error would be about this component.
void check_part(const Value& table, const std::vector<std::string>& parts, std::size_t depth, const std::string& path) {
  static const std::vector<std::string> kRoots{"component", "group", "run", "topology"};
  if (depth == 0 && !contains(kRoots, parts[0])) {
    throw error_at(kCommandLine, path, fmt::format("unknown key '{}'{}", parts[0], suggestion(parts[0], kRoots)));
  }
  if (is_name(parts, depth) && table.find(parts[depth]) == nullptr) {
    throw error_at(kCommandLine, path,
                   fmt::format("no {} is named '{}'{}", parts[depth - 1], parts[depth],
                               suggestion(parts[depth], keys_of(&table))));
  }
}

/// Returns the table at `key`, and adds it if it is missing.
Value& open_table(Value& table, const std::string& key, const std::string& path) {
  Value& inner = std::get<Value::Table>(table.data).try_emplace(key, Value{Value::Table{}, kCommandLine}).first->second;
  if (inner.get_if<Value::Table>() != nullptr) return inner;
  throw error_at(kCommandLine, path, fmt::format("'{}' is {} on the command line, not a table", key, to_text(inner)));
}

/// Adds one value to `tree`, the tree of all values that the command line gives. Throws if a part of the path must
/// exist in the file `root` but does not.
void add_to_tree(Value& tree, const Value& root, const Assignment& assignment) {
  const std::vector<std::string> parts = split(assignment.name);
  Value* table = &tree;
  const Value* in_file = &root;
  for (std::size_t depth = 0; depth < parts.size(); ++depth) {
    if (in_file != nullptr) check_part(*in_file, parts, depth, assignment.name);
    in_file = in_file == nullptr ? nullptr : in_file->find(parts[depth]);
    if (depth + 1 == parts.size()) break;
    table = &open_table(*table, parts[depth], assignment.name);
  }
  Value& value = std::get<Value::Table>(table->data)[parts.back()];
  const std::vector<std::string> given = keys_of(&value);
  if (!given.empty()) {
    throw error_at(kCommandLine, assignment.name,
                   fmt::format("'{}' would drop {}.{}, which the command line gives, too", assignment.text,
                               assignment.name, given.front()));
  }
  value = read_command_line_value(assignment.text);
}

/// Throws if the path leads through a value of the file that is not a table, such as `rule = "adamw"`, because a table
/// would silently replace it. This is allowed only if the command line also gives `plugin` there, since the value may
/// be the name of a plugin.
void check_way(const Value& root, const Value& tree, const Assignment& assignment) {
  const std::vector<std::string> parts = split(assignment.name);
  const Value* in_file = &root;
  const Value* given = &tree;
  std::string key;
  for (std::size_t depth = 0; depth + 1 < parts.size(); ++depth) {
    in_file = in_file->find(parts[depth]);
    given = given->find(parts[depth]);
    if (in_file == nullptr || given == nullptr) return;
    key = join_key(key, parts[depth]);
    if (in_file->get_if<Value::Table>() != nullptr) continue;
    if (given->find("plugin") != nullptr) return;
    throw error_at(kCommandLine, assignment.name,
                   fmt::format("'{}' is {} ({}), not a table; to change a plugin, give {}.plugin, too", parts[depth],
                               to_text(*in_file), to_text(in_file->origin), key));
  }
}

/// Adds the paths of all keys `name` in a table and in the tables inside it.
void add_paths(const Value& table, const std::string& path, const std::string& name, std::vector<std::string>& paths) {
  for (const std::string& key : keys_of(&table)) {
    if (key == name) paths.push_back(join_key(path, key));
    add_paths(*table.find(key), join_key(path, key), name, paths);
  }
}

/// Returns the paths at which the file gives a parameter of this name to a component or to a plugin of a component,
/// such as "component.optimizer.params.lr" or "component.accelerator_host.params.model.hidden".
std::vector<std::string> paths_of_parameter(const Value& root, const std::string& name) {
  std::vector<std::string> paths;
  const auto add = [&](const Value* components, const std::string& path) {
    for (const std::string& component : keys_of(components)) {
      const Value* parameters = components->find(component)->find("params");
      if (parameters != nullptr) add_paths(*parameters, join_key(path, component + ".params"), name, paths);
    }
  };
  add(root.find("component"), "component");
  for (const std::string& group : keys_of(root.find("group"))) {
    add(root.find("group")->find(group)->find("component"), "group." + group + ".component");
  }
  return paths;
}

/// Returns the error about an unknown name. The most helpful hint comes first, and the long list of known names last.
Error unknown_word(const Assignment& given, const Value& root, std::vector<std::string> known) {
  std::vector<std::string> meant = paths_of_parameter(root, given.name);
  if (!meant.empty()) {
    for (std::string& path : meant) path += "=" + given.text;
    return error_at(
        kCommandLine, given.name,
        fmt::format("no argument has this name; a parameter is given with its path: {}", fmt::join(meant, " or ")));
  }
  const std::string similar = nearest(given.name, known);
  std::ranges::sort(known);
  // An argument and a key can have the same name, so duplicates are removed.
  known.erase(std::ranges::unique(known).begin(), known.end());
  return error_at(
      kCommandLine, given.name,
      fmt::format("no argument has this name; {}a parameter is given with its path, such as "
                  "component.optimizer.params.lr=0.1; known without a path: {}",
                  similar.empty() ? "" : fmt::format("did you mean '{}'? ", similar), fmt::join(known, ", ")));
}

}  // namespace

const std::vector<std::string>& topology_keys() {
  static const std::vector<std::string> keys{"accelerator", "devices",        "strategy",   "collective",
                                             "precision",   "placement",      "overcommit", "environment",
                                             "nodes",       "ranks_per_host", "key_file",   "join_timeout_s"};
  return keys;
}

const std::vector<std::string>& launcher_run_keys() {
  static const std::vector<std::string> keys{
      "name",           "seed", "directory", "log_level", "start_timeout_s", "stop_timeout_s", "progress_timeout_s",
      "flush_denormals"};
  return keys;
}

// The arguments of the file take precedence over keys of [topology] and [run], because the author of the file has
// chosen their names.
CommandLine sort_command_line(const std::vector<std::string>& words, const Value& root,
                              const std::vector<std::string>& run_keys) {
  const std::vector<std::string> arguments = keys_of(root.find("args"));
  CommandLine out;
  for (const std::string& word : words) {
    const Assignment given = parse_assignment(word);
    // A name with dots is a path; other names are looked up.
    if (given.name.find('.') != std::string::npos) {
      out.overrides.push_back(given);
    } else if (contains(arguments, given.name)) {
      out.arguments[given.name] = given.text;
    } else if (contains(topology_keys(), given.name)) {
      out.overrides.push_back({"topology." + given.name, given.text});
    } else if (contains(run_keys, given.name)) {
      out.overrides.push_back({"run." + given.name, given.text});
    } else {
      std::vector<std::string> known = arguments;
      known.insert(known.end(), topology_keys().begin(), topology_keys().end());
      known.insert(known.end(), run_keys.begin(), run_keys.end());
      throw unknown_word(given, root, std::move(known));
    }
  }
  return out;
}

// Builds one tree from all words, and merges it into `root`, as if it were a file that includes the launch file. So if
// the command line changes a plugin, the parameters of the old plugin are dropped, but those on the command line are
// kept, whatever their order.
void apply_overrides(Value& root, const std::vector<Assignment>& assignments) {
  Value tree{Value::Table{}, kCommandLine};
  for (const Assignment& assignment : assignments) add_to_tree(tree, root, assignment);
  for (const Assignment& assignment : assignments) check_way(root, tree, assignment);
  merge(root, std::move(tree));
}

}  // namespace trainyard::launch
