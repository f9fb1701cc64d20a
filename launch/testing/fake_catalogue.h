// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "launch/plan/catalogue.h"
#include "messages/error.h"
#include "messages/nearest.h"
#include "messages/schema.h"

namespace trainyard::testing {}

namespace trainyard::launch::testing {

using namespace trainyard::testing;

/// Returns the report of an accelerator that refuses nothing, and that "auto" chooses only if no other is available.
inline AcceleratorReport free_accelerator() {
  return {.devices = 64,
          .problem = "",
          .traits = {.precisions = {"32-true", "bf16-mixed", "16-mixed"}, .auto_priority = 1}};
}

/// A catalogue of plugins that exist only as declarations in a test.
class FakeCatalogue final : public Catalogue {
 public:
  /// Adds a plugin without ports and parameters, and returns its declaration, which the test can complete. The plugin
  /// has the default traits of its kind; an accelerator has the report free_accelerator().
  core::PluginInfo& add(const std::string& kind, const std::string& name) {
    core::PluginInfo& info = plugins_[{kind, name}];
    info.label = {kind, name, "1", "", ""};
    info.path = "/plugins/" + kind + "s/" + name + ".so";
    if (info.traits.of_kind.index() != 0) return info;
    info.traits = core::default_traits(kind);
    if (kind == AcceleratorReport::kPluginKind) info.traits.of_kind = free_accelerator();
    return info;
  }

  /// Adds the plugin `name`, of the kind to which `Traits` belongs, and sets its traits.
  template <class Traits>
  void say(const std::string& name, Traits traits) {
    add(Traits::kPluginKind, name).traits.of_kind = std::move(traits);
  }

  const core::PluginInfo& info(std::string_view kind, std::string_view name) override {
    const auto found = plugins_.find({std::string(kind), std::string(name)});
    if (found != plugins_.end()) return found->second;
    std::vector<std::string> known;
    for (const PluginLabel& label : list()) {
      if (label.kind == kind) known.push_back(label.name);
    }
    throw Error(Code::kNotFound, "no {} named '{}'{}", kind, name, suggestion(name, known));
  }

  Answer ask(std::string_view kind, std::string_view name, const std::string& parameters, bool anew) override {
    if (anew) ++asked_anew;
    const auto special = special_answers.find({std::string(name), parameters});
    return special == special_answers.end() ? Answer{info(kind, name).traits, ""} : special->second;
  }

  /// The answers of ask() for certain names and parameters. In all other cases, ask() returns the traits of the
  /// declaration.
  std::map<std::pair<std::string, std::string>, Answer> special_answers;
  int asked_anew = 0;  ///< The number of calls of ask() with `anew`.

  std::vector<PluginLabel> list() override {
    std::vector<PluginLabel> labels;
    for (const auto& [key, info] : plugins_) labels.push_back(info.label);
    return labels;
  }

 private:
  std::map<std::pair<std::string, std::string>, core::PluginInfo> plugins_;
};

/// Returns a port. Its type consists only of a name, so two types are different if their names are. `topic` is the
/// port's name if it is empty.
inline core::PortInfo port(const std::string& name, const std::string& type, const std::string& topic = "") {
  core::PortInfo info{.name = name, .topic = topic.empty() ? name : topic, .type = type};
  info.schema = type + " {\n  u64 step\n}\n";
  info.fingerprint = fingerprint(info.schema);
  return info;
}

/// Returns an input that need not be connected.
inline core::PortInfo optional_port(const std::string& name, const std::string& type, const std::string& topic = "") {
  core::PortInfo info = port(name, type, topic);
  info.optional = true;
  return info;
}

/// Returns a parameter. It is required if `default_json` is empty.
inline ParameterInfo parameter(const std::string& name, ValueKind kind, const std::string& default_json,
                               ParameterRules rules = {}) {
  return {name, kind, default_json.empty(), default_json, "", std::move(rules)};
}

// The following functions add the components of a training run. They declare the same ports, topics, ranks and threads
// as the real components, because planning depends on these.
inline void add_loader(FakeCatalogue& catalogue) {
  core::PluginInfo& info = catalogue.add("component", "data_loader");
  info.inputs = {port("orders", "Order", "/orders"), optional_port("run_state", "RunState", "/run_state")};
  info.outputs = {port("dataset", "DatasetInfo"), port("batches", "Batch")};
  info.parameters = {parameter("dataset", ValueKind::kPlugin, "", plugin_kind("dataset")),
                     parameter("batch_size", ValueKind::kInteger, "64", positive()),
                     parameter("shard", ValueKind::kInteger, "-1"), parameter("shards", ValueKind::kInteger, "0")};
  info.traits.of_kind = ComponentTraits{.per_rank = true, .thread = "loader", .restartable = false};
}

inline void add_host(FakeCatalogue& catalogue) {
  core::PluginInfo& info = catalogue.add("component", "accelerator_host");
  info.inputs = {port("dataset", "DatasetInfo"),
                 port("orders", "Order", "/orders"),
                 port("batches", "Batch"),
                 port("parameters", "Parameters"),
                 optional_port("optimizer_state", "OptimizerState"),
                 optional_port("run_state", "RunState", "/run_state"),
                 optional_port("snapshot_taken", "SnapshotTaken")};
  info.outputs = {port("arena", "ArenaInfo"),
                  port("gradients", "Gradients"),
                  port("model", "ModelInfo", "/model"),
                  port("order_done", "OrderDone", "/order_done"),
                  port("snapshot", "Snapshot"),
                  port("metrics", "Metrics", "/metrics"),
                  port("rank_metrics", "RankMetrics", "/rank_metrics")};
  info.parameters = {
      parameter("accelerator", ValueKind::kPlugin, R"({"plugin":"cpu"})", plugin_kind("accelerator")),
      parameter("devices", ValueKind::kString, R"("auto")"),
      parameter("strategy", ValueKind::kPlugin, R"({"plugin":"single_device"})", plugin_kind("strategy")),
      parameter("collective", ValueKind::kPlugin, R"({"plugin":"auto"})", plugin_kind("collective")),
      parameter("precision", ValueKind::kString, R"("32-true")", one_of({"32-true", "bf16-mixed", "32", "bf16", "16"})),
      parameter("model", ValueKind::kPlugin, "", plugin_kind("model")),
      parameter("clip_norm", ValueKind::kNumber, "0.0", at_least(0))};
  info.traits.of_kind = ComponentTraits{.per_rank = true, .thread = "compute", .restartable = false};
}

inline void add_optimizer(FakeCatalogue& catalogue) {
  core::PluginInfo& info = catalogue.add("component", "optimizer");
  info.inputs = {port("arena", "ArenaInfo"), port("gradients", "Gradients"),
                 optional_port("run_state", "RunState", "/run_state")};
  info.outputs = {port("optimizer_state", "OptimizerState"), port("parameters", "Parameters"),
                  port("metrics", "Metrics", "/metrics")};
  info.parameters = {parameter("lr", ValueKind::kNumber, "0.001", positive()),
                     parameter("rule", ValueKind::kString, R"("adamw")", one_of({"adamw", "sgd"}))};
  info.traits.of_kind = ComponentTraits{.per_rank = true, .thread = "compute", .restartable = false};
}

inline void add_manager(FakeCatalogue& catalogue) {
  core::PluginInfo& info = catalogue.add("component", "strategy_manager");
  info.inputs = {port("dataset", "DatasetInfo"),
                 port("model", "ModelInfo", "/model"),
                 optional_port("run_state", "RunState", "/run_state"),
                 port("order_done", "OrderDone", "/order_done"),
                 optional_port("checkpoints", "CheckpointDone", "/checkpoints"),
                 optional_port("rank_metrics", "RankMetrics", "/rank_metrics")};
  info.inputs.front().every_rank = true;
  info.outputs = {port("orders", "Order", "/orders"), port("metrics", "Metrics", "/metrics")};
  info.parameters = {parameter("max_steps", ValueKind::kInteger, "0", at_least(0)),
                     parameter("validate_every_steps", ValueKind::kInteger, "0", at_least(0))};
  info.traits.of_kind = ComponentTraits{.restartable = false, .checks_parameters = true};
}

inline void add_observers(FakeCatalogue& catalogue) {
  core::PluginInfo& logger = catalogue.add("component", "logger");
  logger.inputs = {port("metrics", "Metrics", "/metrics"), optional_port("model", "ModelInfo", "/model")};
  logger.inputs.front().policy = Policy::kDropOldest;
  logger.parameters = {parameter("csv", ValueKind::kBool, "true")};
  logger.traits.of_kind = ComponentTraits{.thread = "logger"};

  core::PluginInfo& writer = catalogue.add("component", "checkpoint_writer");
  writer.inputs = {port("arena", "ArenaInfo"), port("optimizer_state", "OptimizerState"), port("snapshot", "Snapshot")};
  for (core::PortInfo& input : writer.inputs) input.every_rank = true;
  writer.outputs = {port("run_state", "RunState", "/run_state"), port("snapshot_taken", "SnapshotTaken"),
                    port("checkpoints", "CheckpointDone", "/checkpoints")};
}

/// Adds the accelerator `simulated`, with some of the rules of the real plugin.
inline void add_simulated(FakeCatalogue& catalogue) {
  core::PluginInfo& info = catalogue.add("accelerator", "simulated");
  info.parameters = {parameter("kind", ValueKind::kString, R"("custom")", one_of({"ipu", "tpu", "hpu", "custom"})),
                     parameter("memory_limit_bytes", ValueKind::kInteger, "0", at_least(0))};
  AcceleratorReport custom = free_accelerator();
  custom.traits.auto_priority = 0;
  info.traits.of_kind = custom;
  AcceleratorReport ipu = custom, hpu = custom;
  ipu.traits.device_counts = {1, 2, 4, 8, 16, 32, 64};
  ipu.traits.precisions = {"32-true", "16-mixed"};
  ipu.traits.gradient_clipping = false;
  ipu.traits.rules = "ipu";
  hpu.devices = 8;
  hpu.traits.rules = "hpu";
  catalogue.special_answers[{"simulated", R"({"kind":"ipu"})"}] = {{ipu}, ""};
  catalogue.special_answers[{"simulated", R"({"kind":"hpu"})"}] = {{hpu}, ""};
}

/// Adds a strategy for each trait that a strategy can report, and the strategy `silent`, which reports none.
inline void add_strategies(FakeCatalogue& catalogue) {
  catalogue.say("single_device", StrategyTraits{.max_ranks = 1});
  catalogue.say("ddp", StrategyTraits{});
  catalogue.add("strategy", "ddp").parameters = {parameter("bucket_bytes", ValueKind::kInteger, "1024", positive())};
  catalogue.say("dp", StrategyTraits{.share = RanksShare::kProcess});
  catalogue.say("parameter_server", StrategyTraits{.share = RanksShare::kMemory});
  catalogue.say("pipeline", StrategyTraits{.min_ranks = 2, .max_ranks = 4, .same_data = true});
  catalogue.add("strategy", "silent");
}

/// Returns a catalogue with the six components of a training run, with their ports and some of their parameters, and
/// with some plugins of most other kinds.
inline FakeCatalogue standard_catalogue() {
  FakeCatalogue catalogue;
  add_loader(catalogue);
  add_host(catalogue);
  add_optimizer(catalogue);
  add_manager(catalogue);
  add_observers(catalogue);
  catalogue.add("accelerator", "cpu").parameters = {parameter("threads", ValueKind::kInteger, "1", positive())};
  add_simulated(catalogue);
  add_strategies(catalogue);
  catalogue.add("model", "mlp").parameters = {parameter("hidden", ValueKind::kIntegers, "[128]", positive())};
  catalogue.say("mlp", ModelTraits{{TargetKind::kClass}});
  catalogue.say("synthetic", DatasetTraits{TargetKind::kClass});
  catalogue.say("text", DatasetTraits{TargetKind::kTokens});
  catalogue.add("dataset", "text").parameters = {parameter("path", ValueKind::kString, ""),
                                                 parameter("context", ValueKind::kInteger, "64", positive())};
  return catalogue;
}

}  // namespace trainyard::launch::testing
