// SPDX-License-Identifier: Apache-2.0
// The `trainyard` command: parses the command line, runs the chosen verb, and turns errors into one line and an exit
// code.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>

#include "messages/error.h"
#include "messages/nearest.h"
#include "messages/printable.h"
#include "tools/trainyard/completion.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/manual.h"
#include "tools/trainyard/verbs.h"

namespace trainyard::tools {
namespace {

/// The verbs, in the order of the help text.
constexpr AddVerb kVerbs[] = {
    add_launch, add_submit, add_plan,   add_check,      add_plugin, add_topic, add_node,   add_param, add_service,
    add_ckpt,   add_bag,    add_runs,   add_plot,       add_replay, add_new,   add_top,    add_trace, add_profile,
    add_graph,  add_pause,  add_resume, add_completion, add_view,   add_keys,  add_doctor,
};

constexpr const char* kFooter =
    "Examples:\n"
    "  trainyard launch quickstart.toml\n"
    "  trainyard topic echo /metrics\n"
    "  trainyard param set optimizer lr 0.0003\n\n"
    "Exit codes: 0 ok, 1 the run failed, 2 bad input, 3 not found, 124 timeout,\n"
    "130 interrupted.\n"
    "Every verb has its own --help.";

/// Returns the names of the subcommands of `trainyard`, or of a family such as `topic`.
std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(verb->get_name());
  }
  return names;
}

/// Throws kInvalidArgument for an unknown subcommand, with the most similar name. The parser would only report that a
/// subcommand is missing.
void refuse_unknown_verbs(const CLI::App& app, int argc, char** argv) {
  const CLI::App* family = &app;
  for (int i = 1; i < argc && argv[i][0] != '-' && family->get_require_subcommand_min() != 0; ++i) {
    const std::vector<std::string> known = names_of(*family);
    if (std::ranges::find(known, argv[i]) == known.end()) {
      throw Error(Code::kInvalidArgument, "no verb '{}'{}", argv[i], suggestion(argv[i], known));
    }
    family = family->get_subcommand(argv[i]);
  }
}

/// Defines the whole command line.
void describe(CLI::App& app, Action& chosen) {
  app.set_version_flag("--version", std::string("trainyard ") + TRAINYARD_VERSION);
  app.footer(kFooter);
  // The subcommands inherit the formatter. With this width, most of their help fits into 80 columns. The label "TEXT"
  // is replaced, because it says nothing.
  app.get_formatter()->column_width(22);
  app.get_formatter()->label("TEXT", "");
  app.get_formatter()->label("REQUIRED", "(required)");
  app.get_formatter()->label("SUBCOMMAND", "VERB");
  app.require_subcommand(1);
  for (const AddVerb add : kVerbs) add(app, chosen);
}

int run(int argc, char** argv) {
  CLI::App app("Trainyard: training as a pipeline of components that exchange messages.", "trainyard");
  Action chosen;
  describe(app, chosen);
  // These words are for the scripts of `trainyard completion` and for the installation, so the help does not mention
  // them.
  const std::string_view word = argc > 1 ? argv[1] : "";
  if (word == "__complete") return complete(describe_command(app), {argv + 2, argv + argc});
  if (word == "__manual") {
    std::fputs(manual_page(describe_command(app), TRAINYARD_VERSION).c_str(), stdout);
    return kExitOk;
  }
  // Like all errors of the command, this error is one line. The parser's own message would include the whole help.
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    // Users often write arguments of the launch file with dashes, like options, so the message explains the difference.
    const bool of_the_file = std::string_view(error.what()).find('=') != std::string_view::npos;
    return fmt::format("trainyard: {}; {}--help shows what is allowed\n", error.what(),
                       of_the_file ? "arguments of a launch file have no dashes: name=value; " : "");
  });
  // This precedes the parser, whose message would not suggest the most similar subcommand.
  refuse_unknown_verbs(app, argc, argv);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    // CLI11 reports --help and --version as exceptions with the code 0.
    return app.exit(error) == 0 ? kExitOk : kExitUsage;
  }
  // The action runs only after parsing, because `launch` forks.
  return chosen();
}

}  // namespace
}  // namespace trainyard::tools

int main(int argc, char** argv) {
  try {
    return trainyard::tools::run(argc, argv);
  } catch (const trainyard::Error& error) {
    // Every error that a user can cause is an Error. Any other exception is a bug, and is reported as such. The message
    // may contain names from files of other users, so control characters are replaced.
    std::fprintf(stderr, "trainyard: %s\n", trainyard::printable(error.what()).c_str());
    return trainyard::tools::exit_code_of(error.code());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "trainyard: internal error: %s\n", error.what());
    return trainyard::tools::kExitFailed;
  }
}
