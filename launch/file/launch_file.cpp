// SPDX-License-Identifier: Apache-2.0
#include "launch/file/launch_file.h"

#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "core/files/regular_file.h"
#include "launch/file/component_reader.h"
#include "launch/file/include.h"
#include "launch/file/overrides.h"
#include "launch/file/shipped_files.h"
#include "launch/file/substitution.h"
#include "launch/file/table_reader.h"

namespace trainyard::launch {
namespace {

const std::vector<std::string> kRootKeys{"include", "args", "run", "topology", "component", "group"};

/// Returns the stem of the file as a valid name: "my_run" for "my run.toml".
std::string default_run_name(const std::string& path) {
  std::string name = std::filesystem::path(path).stem().string().substr(0, 60);
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0 && c != '_' && c != '-'; }, '_');
  return name.empty() || std::isalpha(static_cast<unsigned char>(name[0])) == 0 ? "run_" + name : name;
}

/// Returns a duration of at least one millisecond, because a timeout of 0 would have passed immediately.
std::chrono::milliseconds seconds(const TableReader& table, const std::string& name, double fallback) {
  return std::chrono::milliseconds(std::max<std::int64_t>(1, std::llround(table.seconds(name, fallback) * 1000)));
}

/// Replaces '~' at the beginning of a path by the home directory. A shell does not do this within a word such as
/// "run.directory=~/x".
std::string with_home(const TableReader& table, const std::string& key, const std::string& path) {
  if (!path.starts_with('~')) return path;
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string user = path.substr(1, end - 1);
  const char* given = std::getenv("HOME");
  if (user.empty() && given != nullptr && *given != '\0') return given + path.substr(end);
  const passwd* entry = user.empty() ? ::getpwuid(::geteuid()) : ::getpwnam(user.c_str());
  if (entry != nullptr) return entry->pw_dir + path.substr(end);
  throw error_at(table.find(key)->origin, table.key(key),
                 fmt::format("'{}' begins with the home of a user '{}', who does not exist; a folder of that name is "
                             "'./{}'",
                             path, user, path));
}

RunSpec read_run(const Value& run, const std::string& path) {
  const TableReader table(run, "run");
  RunSpec spec;
  // name() checks a name from the file. The default is always valid.
  spec.name = table.name("name", default_run_name(path));
  spec.seed = static_cast<std::uint64_t>(table.integer("seed", 1, 0));
  spec.log_level = table.word("log_level", LogLevel::kInfo);
  spec.flush_denormals = table.flag("flush_denormals", true);
  spec.directory = with_home(table, "directory", table.text("directory", "runs/" + spec.name));
  spec.start_timeout = seconds(table, "start_timeout_s", 30);
  spec.stop_timeout = seconds(table, "stop_timeout_s", 10);
  spec.progress_timeout =
      std::chrono::milliseconds(std::llround(table.seconds("progress_timeout_s", 300, true) * 1000));
  // The planner checks later whether the strategy manager has parameters of these names.
  for (const auto& [key, value] : table_of(run, "run")) {
    if (std::ranges::find(launcher_run_keys(), key) == launcher_run_keys().end()) spec.manager[key] = value;
  }
  return spec;
}

/// Reads { process = ["component", ...] }.
void read_placement_table(const Value& placement, TopologySpec& spec) {
  const TableReader table(placement, "topology.placement");
  for (const auto& [process, components] : table_of(placement, "topology.placement")) {
    check_name(components, table.key(process), process);
    for (const std::string& component : table.texts(process)) {
      const auto [place, fresh] = spec.placed.try_emplace(component, Word{process, components.origin});
      // A component that is listed in two processes must be refused here, because the map keeps only one of them.
      if (fresh) continue;
      throw error_at(components.origin, table.key(process),
                     fmt::format("'{}' is placed in '{}' already", component, place->second.text));
    }
  }
}

/// Reads [topology]. Keys for components, such as `accelerator`, are only collected in `given`.
TopologySpec read_topology(const Value& topology) {
  const TableReader table(topology, "topology", topology_keys());
  TopologySpec spec;
  const Value* placement = table.find("placement");
  if (placement != nullptr && placement->get_if<Value::Table>() != nullptr) {
    read_placement_table(*placement, spec);
  } else if (placement != nullptr) {
    const auto* text = placement->get_if<std::string>();
    const std::optional<Placement> word = text == nullptr ? std::nullopt : find_by_name<Placement>(*text);
    if (!word) {
      throw not_allowed(*placement, "topology.placement",
                        "\"composed\", \"processes\", \"ranks\" or a table { process = [\"component\", ...] }");
    }
    spec.placement = {*word, placement->origin};
  }
  if (const Value* environment = table.find("environment")) spec.environment = *environment;
  if (const Value* nodes = table.find("nodes")) spec.nodes = *nodes;
  if (const Value* ranks = table.find("ranks_per_host")) spec.ranks_per_host = *ranks;
  if (const Value* file = table.find("key_file")) spec.key_file = Word{table.text("key_file", ""), file->origin};
  spec.join_timeout = seconds(table, "join_timeout_s", 600);
  spec.given = table_of(topology, "topology");
  for (const char* own : {"nodes", "ranks_per_host", "key_file", "join_timeout_s"}) spec.given.erase(own);
  spec.given.erase("environment");
  spec.given.erase("placement");
  spec.overcommit = table.flag("overcommit", false);
  spec.given.erase("overcommit");
  return spec;
}

/// Reads the file, and applies includes, arguments, substitution and overrides.
Value resolve(const std::string& path, const std::vector<std::string>& words, std::vector<std::string> run_keys,
              std::vector<SourceFile>& sources) {
  Value root = read_with_includes(path, &sources);
  // The constructor throws for unknown keys at the root. The object is not used otherwise.
  [[maybe_unused]] const TableReader checked(root, "", kRootKeys);
  run_keys.insert(run_keys.end(), launcher_run_keys().begin(), launcher_run_keys().end());
  const CommandLine line = sort_command_line(words, root, run_keys);
  const Substitution substitution(resolve_arguments(root.find("args"), line.arguments));
  auto& table = std::get<Value::Table>(root.data);
  // The arguments have been read, and their values must not be substituted again.
  table.erase("args");
  root = substitution.resolve(root, "");
  // Overrides are applied last, without substitution, because values on the command line are taken literally.
  apply_overrides(root, line.overrides);
  return root;
}

/// Returns the path of the user's file or, if it does not exist, of the file of that name that comes with Trainyard.
std::string find_launch_file(const std::string& given) {
  // If this is not a file, reading it fails with an error.
  if (core::is_there(given)) return given;
  const std::string shipped = shipped_file(given);
  if (!shipped.empty()) return shipped;
  throw Error(Code::kNotFound, "{}: there is no such file{}", given, shipped_suggestion(given));
}

}  // namespace

LaunchFile load_launch_file(const std::string& given, const std::vector<std::string>& words,
                            const std::vector<std::string>& manager_keys) {
  const std::string path = find_launch_file(given);
  std::vector<SourceFile> sources;
  const Value root = resolve(path, words, manager_keys, sources);
  // A missing table counts as an empty one.
  const Value none{Value::Table{}, {path, 0}};
  const auto section = [&](const char* name) -> const Value& {
    const Value* found = root.find(name);
    return found == nullptr ? none : *found;
  };
  LaunchFile file{path, read_run(section("run"), path), read_topology(section("topology")), read_components(root),
                  std::move(sources)};
  if (file.components.empty()) {
    throw Error(Code::kInvalidArgument, "{}: has no component; at least one [component.NAME] is needed", path);
  }
  return file;
}

}  // namespace trainyard::launch
