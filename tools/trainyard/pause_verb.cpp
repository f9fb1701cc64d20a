// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <memory>

#include "messages/error.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/run_finder.h"
#include "tools/trainyard/verbs.h"
#include "visitors/registry_client.h"

namespace trainyard::tools {
namespace {

using nlohmann::json;

/// Returns the component that can pause the run, normally the strategy manager. It is recognised by its services,
/// because launch files can give it another plugin and name.
std::string director_of(visitors::RegistryClient& registry) {
  const json nodes = registry.ask("nodes");
  for (const json& node : nodes) {
    const json services = node.value("services", json::array());
    const auto offers = [&](const json& service) { return std::ranges::find(services, service) != services.end(); };
    if (offers("pause") && offers("go_on")) return node.value("component", "");
  }
  throw Error(Code::kUnsupported, "none of the {} components of this run has the services 'pause' and 'go_on'",
              nodes.size());
}

/// Calls `service` of this component, and prints the step that the answer contains.
int call_director(const RunChoice& choice, const std::string& service) {
  zmq::context_t context;
  visitors::RegistryClient registry(context, find_run(choice).registry);
  const json answer = registry.call(director_of(registry), service);
  std::printf("%s\n", answer.is_object() ? answer.value("text", "").c_str() : answer.dump().c_str());
  return kExitOk;
}

void add_call(CLI::App* verb, Action& chosen, const char* service) {
  const auto choice = std::make_shared<RunChoice>();
  choice->add_to(*verb);
  verb->callback([=, &chosen] { chosen = [=] { return call_director(*choice, service); }; });
}

}  // namespace

void add_pause(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("pause", "Pause a running launch after the current step");
  verb->footer(
      "Example:\n  trainyard pause && trainyard param load tuned.toml && trainyard resume\n\n"
      "It returns when all ranks have paused. Ctrl-Z in the terminal of the launch, in\n"
      "contrast, suspends the processes, so they cannot answer requests.");
  add_call(verb, chosen, "pause");
}

void add_resume(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("resume", "Continue a launch that `trainyard pause` has paused");
  verb->footer(
      "Example:\n  trainyard resume\n\n"
      "A run that was paused several times continues only after as many calls.");
  add_call(verb, chosen, "go_on");
}

}  // namespace trainyard::tools
