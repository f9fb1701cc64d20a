// SPDX-License-Identifier: Apache-2.0
#include "launch/file/overrides.h"

#include <algorithm>

#include "core/config/nearest.h"
#include "launch/file/text_guard.h"
#include "launch/file/toml_reader.h"

namespace trainyard::launch {

// The command line has no quotes and no sections, so each word says where it belongs: by a path, or by a name that is
// looked up first in the file's arguments, then in [topology] and [run].

namespace {

const Origin kCommandLine{};

/// The keys of a table; none for anything else. Only for suggestions and look-ups.
std::vector<std::string> keys_of(const Value* value) {
  std::vector<std::string> keys;
  const auto* table = value == nullptr ? nullptr : value->get_if<Value::Table>();
  if (table == nullptr) return keys;
  for (const auto& [key, element] : *table) keys.push_back(key);
  return keys;
}

/// Splits "run.max_steps" into its words. Throws for an empty word and for too many.
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

/// True if the part at `depth` is the name of a component or group, which must exist.
bool is_name(const std::vector<std::string>& parts, std::size_t depth) {
  if (depth == 1) return parts[0] == "component" || parts[0] == "group";
  return depth == 3 && parts[0] == "group" && parts[2] == "component";
}

/// Otherwise a slip in a component's name would make a new, half-empty component, and the error would be about that.
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

/// The table under `key`, which is made if it is missing. A value on the way, such as `dataset = "text"`, is not
/// silently replaced by a table.
Value& open_table(Value& table, const std::string& key, const std::string& path) {
  Value& inner = std::get<Value::Table>(table.data).try_emplace(key, Value{Value::Table{}, kCommandLine}).first->second;
  if (inner.get_if<Value::Table>() != nullptr) return inner;
  throw error_at(kCommandLine, path,
                 fmt::format("'{}' is {} ({}), not a table", key, to_text(inner), to_text(inner.origin)));
}

}  // namespace

const std::vector<std::string>& topology_keys() {
  static const std::vector<std::string> keys{"accelerator", "devices",   "strategy",
                                             "collective",  "precision", "placement"};
  return keys;
}

const std::vector<std::string>& launcher_run_keys() {
  static const std::vector<std::string> keys{
      "name", "seed", "directory", "log_level", "start_timeout_s", "stop_timeout_s", "flush_denormals"};
  return keys;
}

// An argument of the file comes first, because its author has chosen the name.
CommandLine sort_command_line(const std::vector<std::string>& words, const Value& root,
                              const std::vector<std::string>& run_keys) {
  const std::vector<std::string> arguments = keys_of(root.find("args"));
  CommandLine out;
  for (const std::string& word : words) {
    const Assignment given = parse_assignment(word);
    // A path says itself where it belongs; single words are looked up.
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
      std::ranges::sort(known);
      // An argument may have the name of a key.
      known.erase(std::ranges::unique(known).begin(), known.end());
      throw error_at(kCommandLine, given.name,
                     "no argument has this name" + suggestion(given.name, known) +
                         "; or a key with its path, such as component.optimizer.params.lr");
    }
  }
  return out;
}

// Goes down to the table that holds the last word. Tables on the way are made if necessary, components are not.
void apply_override(Value& root, const Assignment& assignment) {
  const std::vector<std::string> parts = split(assignment.name);
  Value* table = &root;
  for (std::size_t depth = 0; depth + 1 < parts.size(); ++depth) {
    check_part(*table, parts, depth, assignment.name);
    table = &open_table(*table, parts[depth], assignment.name);
  }
  check_part(*table, parts, parts.size() - 1, assignment.name);
  std::get<Value::Table>(table->data)[parts.back()] = read_command_line_value(assignment.text);
}

}  // namespace trainyard::launch
