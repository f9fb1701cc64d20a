// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "core/keys/key_folder.h"
#include "core/plugin/loader.h"
#include "launch/file/shipped_files.h"
#include "messages/error.h"
#include "messages/schema.h"
#include "tools/trainyard/completion.h"
#include "tools/trainyard/running_parameters.h"
#include "tools/trainyard/submit/engine.h"
#include "tools/trainyard/topic_finder.h"
#include "visitors/registry_client.h"
#include "visitors/run_info.h"

namespace trainyard::tools {
namespace {

using nlohmann::json;

/// The run that the user has chosen, and a client of its registry.
struct CompletionRun {
  explicit CompletionRun(const TypedWords& typed) : run(visitors::find_run(typed.run)) {}

  visitors::RunInfo run;
  zmq::context_t context;
  visitors::RegistryClient registry{context, run.registry};
};

Candidates runs(const TypedWords&) {
  Candidates candidates;
  for (const visitors::RunInfo& run : visitors::list_runs()) {
    candidates.words.push_back({run.name, run.file});
    candidates.words.push_back({run.run, run.file});
  }
  return candidates;
}

/// Returns completions for verbs that accept a run or a recording.
Candidates runs_and_files(const TypedWords& typed) { return {runs(typed).words, true}; }

Candidates topics(const TypedWords& typed) {
  CompletionRun run(typed);
  Candidates candidates;
  for (const json& topic : run.registry.ask("topics")) {
    candidates.words.push_back({topic.value("topic", ""), topic.value("type", "")});
  }
  return candidates;
}

/// Returns the names of all components, and also the names without a rank, which stand for the components of all ranks.
Candidates components(const TypedWords& typed) {
  CompletionRun run(typed);
  Candidates candidates;
  for (const std::string& name : configurable_components(run.registry)) candidates.words.push_back({name, ""});
  for (const json& node : run.registry.ask("nodes")) {
    candidates.words.push_back({node.value("component", ""), node.value("state", "")});
  }
  return candidates;
}

Candidates services(const TypedWords& typed) {
  CompletionRun run(typed);
  Candidates candidates;
  for (const json& node : run.registry.ask("nodes")) {
    if (node.value("component", "") != typed.arguments.at(0)) continue;
    for (const json& service : node.value("services", json::array())) {
      candidates.words.push_back({service.get<std::string>(), ""});
    }
  }
  return candidates;
}

/// Returns the names of a component's parameters; for `param set`, only of parameters that can be set.
Candidates parameters(const TypedWords& typed) {
  CompletionRun run(typed);
  Candidates candidates;
  for (const RunningParameter& parameter : list_parameters(run.registry, typed.arguments.at(0))) {
    if (typed.path.back() == "set" && !parameter.info.rules.settable) continue;
    candidates.words.push_back({parameter.info.name, parameter.info.help});
  }
  return candidates;
}

/// Returns the allowed values of a parameter, or, if there is no fixed list, its current value.
Candidates values(const TypedWords& typed) {
  CompletionRun run(typed);
  Candidates candidates;
  for (const RunningParameter& parameter : list_parameters(run.registry, typed.arguments.at(0))) {
    if (parameter.info.name != typed.arguments.at(1)) continue;
    for (const std::string& choice : parameter.info.rules.choices) candidates.words.push_back({choice, ""});
    if (parameter.info.kind == ValueKind::kBool)
      candidates.words.insert(candidates.words.end(), {{"true", ""}, {"false", ""}});
    if (candidates.words.empty()) candidates.words.push_back({parameter.value.dump(), "the present value"});
  }
  return candidates;
}

/// Returns the top-level fields of a message. The user has to type the names of nested fields.
Candidates fields(const TypedWords& typed) {
  CompletionRun run(typed);
  Candidates candidates;
  const Schema schema = parse_schema(find_topic(run.registry, typed.arguments.at(0)).value("schema", ""));
  for (const Field& field : schema.structs.front().fields)
    candidates.words.push_back({field.name, to_text(field.type)});
  return candidates;
}

Candidates plugins(const TypedWords&) {
  Candidates candidates;
  for (const auto& plugin : core::PluginLoader(core::PluginLoader::default_directories()).list()) {
    candidates.words.push_back({plugin.label.name, plugin.label.kind});
  }
  return candidates;
}

Candidates plugin_kinds(const TypedWords&) {
  Candidates candidates;
  for (const auto& plugin : core::PluginLoader(core::PluginLoader::default_directories()).list()) {
    candidates.words.push_back({plugin.label.kind, ""});
  }
  return candidates;
}

/// Returns the names of existing keys. There is no completion for `keys new`, which needs a new name.
Candidates keys(const TypedWords& typed) {
  Candidates candidates;
  if (typed.path.back() != "show") return candidates;
  const core::KeyFolder folder;
  for (const std::string& name : folder.own_names()) candidates.words.push_back({name, "your own"});
  for (const std::string& name : folder.public_names()) candidates.words.push_back({name, "of somebody else"});
  return candidates;
}

Candidates roles(const TypedWords&) {
  return {{{"watch", "look only"}, {"control", "also change a run"}, {"member", "the key of a host"}}, false};
}

Candidates files(const TypedWords&) { return {{}, true}; }

Candidates engines(const TypedWords&) {
  Candidates candidates;
  for (const std::string& name : submit::engine_names()) candidates.words.push_back({name, ""});
  return candidates;
}

Candidates launch_files(const TypedWords&) {
  Candidates candidates{{}, true};
  for (const std::string& name : launch::shipped_files()) candidates.words.push_back({name, "comes with Trainyard"});
  return candidates;
}

/// The functions that find completions, by the names of options and arguments in the help. If an argument has different
/// meanings, the name of the verb or family precedes its name.
const std::map<std::string, std::function<Candidates(const TypedWords&)>> kSources{
    {"--run", runs},
    {"trace RUN", runs_and_files},
    {"profile RUN", runs_and_files},
    {"--perfetto", files},
    {"TOPIC", topics},
    {"COMPONENT", components},
    {"SERVICE", services},
    {"param NAME", parameters},
    {"VALUE", values},
    {"--field", fields},
    {"plugin NAME", plugins},
    {"KIND", plugin_kinds},
    {"launch FILE", launch_files},
    {"submit FILE", launch_files},
    {"--engine", engines},
    {"--logs", files},
    {"--key", files},
    {"plan FILE", launch_files},
    {"check FILE", launch_files},
    {"keys NAME", keys},
    {"keys --role", roles},
    {"keys --file", files},
    {"--file", launch_files},
    {"FILE", files},
    {"PATH", files},
    {"--output", files},
};

}  // namespace

// If a completion fails, the result is empty, because there is no place to print an error.
Candidates dynamic_candidates(const TypedWords& typed) try {
  if (typed.open == nullptr || typed.path.empty()) return {};
  const std::string name = typed.open->names.back();
  auto source = kSources.find(typed.path.front() + " " + name);
  if (source == kSources.end()) source = kSources.find(name);
  return source == kSources.end() ? Candidates{} : source->second(typed);
} catch (const std::exception&) {
  return {};
}

}  // namespace trainyard::tools
