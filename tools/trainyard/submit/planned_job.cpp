// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/submit/planned_job.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "launch/plan/planner.h"
#include "messages/error.h"
#include "messages/printable.h"
#include "tools/trainyard/submit/elsewhere.h"

namespace trainyard::tools::submit {
namespace {

using launch::Plan;
using nlohmann::json;

constexpr const char* kCheckpointWriter = "checkpoint_writer";

/// Plans the launch as for other hosts. The rule about memory is not checked, because the memory of those hosts is not
/// known.
Plan plan_elsewhere(const std::string& file, const std::vector<std::string>& arguments, launch::Catalogue& catalogue) {
  Elsewhere elsewhere(catalogue);
  try {
    return launch::make_plan(file, arguments, elsewhere, launch::Machine{.memory_bytes = 0});
  } catch (const Error& error) {
    throw Error(Code::kInvalidArgument, "{}", error.what());
  }
}

/// Returns the largest number of ranks on any host, because a job requests the same resources on every host.
std::uint32_t ranks_on_each_host(const Plan& plan) {
  for (const launch::Choice& choice : plan.choices) {
    if (choice.key == "devices" && choice.given == "-1") {
      throw Error(Code::kInvalidArgument, "devices = {} means all that there are; an engine must be asked for a number",
                  choice.given);
    }
  }
  return *std::ranges::max_element(plan.ranks_of_hosts);
}

/// Returns the name of a plugin from the value of a parameter, which is a text, or a table with the key `plugin`.
std::string plugin_in(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_object() ? value.value("plugin", "") : "";
}

/// Returns the name of the component's accelerator, or an empty text if it has none.
std::string accelerator_of(const ComponentPlan& component, const core::PluginInfo& info) {
  for (const ParameterInfo& parameter : info.parameters) {
    if (parameter.rules.plugin_kind != AcceleratorReport::kPluginKind) continue;
    const json given = json::parse(component.parameters);
    const json standard = json::parse(parameter.default_json, nullptr, /*allow_exceptions=*/false);
    return plugin_in(given.contains(parameter.name) ? given[parameter.name] : standard);
  }
  return "";
}

/// Returns the name of the run's accelerator. For a run without an accelerator, such as a run that consists only of
/// external programs, returns "cpu", because the run needs no device.
std::string accelerator_of(const Plan& plan, launch::Catalogue& catalogue) {
  for (const ComponentPlan& component : plan.components) {
    if (plan.members.contains(component.index)) continue;
    const std::string name = accelerator_of(component, catalogue.info("component", component.plugin));
    if (!name.empty()) return name;
  }
  return "cpu";
}

/// Returns the key of the parameter `resume` in the launch file, where the component's name does not contain its
/// namespace.
std::string path_of_resume(const ComponentPlan& component) {
  const std::string name = component.name.substr(component.name.rfind('/') + 1);
  return fmt::format("component.{}.params.resume", name);
}

/// Determines how the run continues when the engine restarts its job.
void settle_resume(const Plan& plan, PlannedJob& planned) {
  const auto writer = std::ranges::find(plan.components, kCheckpointWriter, &ComponentPlan::plugin);
  if (writer == plan.components.end()) {
    planned.notes.push_back(
        "the run saves no checkpoints, so it starts from the beginning if its job is started again");
    return;
  }
  const std::string given = json::parse(writer->parameters).value("resume", "");
  planned.job.continues = true;
  if (given == "auto" || given == "last") return;
  if (!given.empty()) {
    throw Error(
        Code::kInvalidArgument,
        "resume is '{}', but a job that is started again must continue from its own newest checkpoint; allowed: "
        "last, auto, none, or --restarts 0",
        printable_line(given));
  }
  planned.job.resume = path_of_resume(*writer) + "=auto";
}

void note_automatic_accelerator(const Plan& plan, PlannedJob& planned) {
  const auto choice = std::ranges::find(plan.choices, "accelerator", &launch::Choice::key);
  if (choice == plan.choices.end()) return;
  planned.notes.push_back(
      fmt::format("the accelerator is left open; the job asks for what {} needs, which is the best of this machine",
                  choice->chosen));
}

}  // namespace

PlannedJob plan_job(const std::string& file, const std::vector<std::string>& arguments, launch::Catalogue& catalogue,
                    bool restarts) {
  const Plan plan = plan_elsewhere(file, arguments, catalogue);
  PlannedJob planned;
  planned.job.file = file;
  planned.job.arguments = arguments;
  planned.job.name = plan.run;
  planned.job.nodes = plan.hosts;
  planned.job.names_key = !plan.key_file.empty();
  planned.job.ranks = ranks_on_each_host(plan);
  planned.job.accelerator = accelerator_of(plan, catalogue);
  note_automatic_accelerator(plan, planned);
  if (restarts) settle_resume(plan, planned);
  return planned;
}

}  // namespace trainyard::tools::submit
