// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
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

/// The arguments of `service call`. `body` is the JSON text that the user has typed.
struct CallArguments {
  RunChoice run;
  std::string component;
  std::string service;
  std::string body = "{}";
};

int call(const CallArguments& arguments) {
  // Only the syntax is checked here, so that the error message can show the word of the command line. The component
  // checks the fields.
  const json body = json::parse(arguments.body, nullptr, false);
  if (!body.is_object()) {
    throw Error(Code::kInvalidArgument, "service call: {} was given; a JSON object is needed", arguments.body);
  }
  zmq::context_t context;
  visitors::RegistryClient registry(context, find_run(arguments.run).registry);
  std::printf("%s\n", registry.call(arguments.component, arguments.service, body).dump(2).c_str());
  return kExitOk;
}

}  // namespace

void add_service(CLI::App& app, Action& chosen) {
  CLI::App* family = app.add_subcommand("service", "Services of a running component")->require_subcommand(1);
  family->footer("Example:\n  trainyard service call strategy_manager stop '{\"reason\": \"by hand\"}'");
  const auto arguments = std::make_shared<CallArguments>();
  CLI::App* verb = family->add_subcommand("call", "Call a service, and print its answer as JSON");
  verb->add_option("COMPONENT", arguments->component)->required();
  verb->add_option("SERVICE", arguments->service, "as `trainyard node info` lists it")->required();
  verb->add_option("BODY", arguments->body, "JSON object (default: {})");
  arguments->run.add_to(*verb);
  verb->callback([=, &chosen] { chosen = [=] { return call(*arguments); }; });
}

}  // namespace trainyard::tools
