// The `trainyard` command: parses the command line, runs the chosen verb, turns errors into one line and an exit code.

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "messages/error.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/verbs.h"

namespace trainyard {
namespace {

constexpr AddVerb kVerbs[] = {add_launch, add_plan,  add_check,   add_plugin, add_topic,
                              add_node,   add_param, add_service, add_ckpt,   add_doctor};

constexpr const char* kFooter =
    "Examples:\n"
    "  trainyard launch launch/files/quickstart.toml\n"
    "  trainyard topic echo /metrics\n"
    "  trainyard param set optimizer learning_rate 0.0003\n\n"
    "Exit codes: 0 ok, 1 the run failed, 2 bad input, 3 not found, 124 timeout, 130 interrupted.\n"
    "Every verb has its own --help.";

int run(int argc, char** argv) {
  CLI::App app("Trainyard: training as a pipeline of components that exchange messages.", "trainyard");
  app.set_version_flag("--version", std::string("trainyard ") + TRAINYARD_VERSION);
  app.footer(kFooter);
  app.require_subcommand(1);
  Action chosen;
  for (const AddVerb add : kVerbs) add(app, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  return chosen();
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  try {
    return trainyard::run(argc, argv);
  } catch (const trainyard::Error& error) {
    std::fprintf(stderr, "trainyard: %s\n", error.what());
    return trainyard::exit_code_of(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trainyard: internal error: %s\n", error.what());
    return trainyard::kExitFailed;
  }
}
