// SPDX-License-Identifier: Apache-2.0
#include "core/process/component_host.h"

#include <algorithm>
#include <string_view>

#include "messages/error.h"

namespace trainyard::core {
namespace {

std::vector<std::string> plugin_directories(const ProcessPlan& plan) {
  return plan.plugin_path.empty() ? PluginLoader::default_directories() : plan.plugin_path;
}

/// Throws kPluginLoad if the plugin is not a component. The library whose path is in the plan may have been replaced
/// since the launcher read its description, and an object of another kind must not be cast to a component.
void check_kind(const PluginEntry& entry, const std::string& library, const std::string& where) {
  if (std::string_view(entry.kind) == Component::kKind) return;
  throw Error(Code::kPluginLoad, "{}: {} contains the {} '{}', and a {} is needed; was the plugin replaced?", where,
              library, entry.kind, entry.name, Component::kKind);
}

}  // namespace

ComponentHost::ComponentHost(const PlanView& plan, Reports reports)
    : plan_(plan),
      reports_(std::move(reports)),
      logs_(plan.plan().log_level),
      plugins_(plugin_directories(plan.plan())),
      rendezvous_(make_folder_rendezvous(plan.plan().run_directory + "/rendezvous")) {
  for (const ComponentPlan& component : plan.plan().components) {
    if (component.process != plan.process()) continue;
    auto& worker = workers_[component.thread];
    if (worker == nullptr) worker = std::make_unique<Worker>(plan.process(), component.thread);
  }
}

// The listener is removed first, because a log line that is written while the threads stop must not reach a listener
// that is already destroyed.
ComponentHost::~ComponentHost() {
  logs_.listen({});
  stop();
}

void ComponentHost::stop() {
  running_ = false;
  for (auto& [thread, worker] : workers_) worker->stop();
}

ComponentContext ComponentHost::context_for(const ComponentPlan& plan) {
  ComponentContext context;
  context.where = "component '" + plan.name + "'";
  context.places = plan.places;
  context.parameters = plan.parameters;
  context.seed = plan_.plan().seed;
  context.rank = plan.rank;
  context.world_size = plan.world_size;
  context.host = plan.host;
  context.first_rank_of_host = plan.first_rank_of_host;
  context.ranks_of_host = plan.ranks_of_host;
  context.output_directory = plan_.plan().output_directory;
  context.log = logs_.logger(plan.name);
  context.plugins = &plugins_;
  context.pool = &pool_;
  context.rendezvous = rendezvous_.get();
  context.name = plan.name;
  context.index = plan.index;
  context.loop = &workers_.at(plan.thread)->loop;
  context.finish_run = [this, name = plan.name](const std::string& reason, bool success) {
    reports_.run_finished(name, reason, success);
  };
  return context;
}

// The component is constructed on the control thread, because the thread of its worker has not been started yet. Later,
// all code of the component runs on the worker's thread.
void ComponentHost::make(const ComponentPlan& plan) {
  ComponentContext context = context_for(plan);
  // The path comes from the launcher, so that all processes of a run load the same file.
  const std::string library = plan.library.empty() ? plugins_.find(Component::kKind, plan.plugin) : plan.library;
  const PluginEntry& entry = plugins_.load(library);
  check_kind(entry, library, context.where);
  auto* made = static_cast<Component*>(PluginLoader::create(entry, &context, context.where));
  workers_.at(plan.thread)->components.emplace_back(made);
  components_[plan.index] = made;
  workers_.at(plan.thread)->loop.activity().add(*made);
  made->on_error([this, made](const std::string& what) { reports_.failed(*made, what); });
}

void ComponentHost::start() {
  for (auto& [thread, worker] : workers_) {
    std::vector<std::uint32_t> cpus;
    for (const auto& component : worker->components) {
      const auto& wanted = plan_.component(component->context().index).cpus;
      cpus.insert(cpus.end(), wanted.begin(), wanted.end());
    }
    worker->start(std::move(cpus));
  }
  running_ = true;
}

Component* ComponentHost::find(const std::string& name) const {
  const auto found = std::ranges::find(components_, name, [](const auto& entry) { return entry.second->name(); });
  return found == components_.end() ? nullptr : found->second;
}

std::vector<OutputBase*> ComponentHost::find_outputs(const std::string& topic) const {
  std::vector<OutputBase*> found;
  for (const auto& [index, component] : components_) {
    const auto& topics = plan_.component(index).topics;
    for (OutputBase* output : component->outputs()) {
      const auto named = topics.find(output->name());
      if (named != topics.end() && named->second == topic) found.push_back(output);
    }
  }
  return found;
}

}  // namespace trainyard::core
