// SPDX-License-Identifier: Apache-2.0
#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>

#include "tools/trainyard/environment_checks.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/system_checks.h"
#include "tools/trainyard/table.h"
#include "tools/trainyard/verbs.h"

namespace trainyard::tools {
namespace {

/// Returns the mark for a verdict. It is always five columns wide, not counting escape sequences.
const char* mark(Verdict verdict, bool colours) {
  switch (verdict) {
    case Verdict::kFact:
      return "     ";
    case Verdict::kGood:
      return colours ? "\033[32mok\033[0m   " : "ok   ";
    case Verdict::kWarning:
      return colours ? "\033[33mwarn\033[0m " : "warn ";
    case Verdict::kBad:
      return colours ? "\033[31mbad\033[0m  " : "bad  ";
  }
  return "";
}

/// Prints the results of all checks, even after a bad result, because several problems often have the same cause.
/// Returns the exit code.
int show(const std::vector<SystemCheck>& checks) {
  bool bad = false;
  for (const SystemCheck& check : checks) {
    std::printf("%s%-16s %s\n", mark(check.verdict, use_colours()), check.name.c_str(), check.finding.c_str());
    // The advice is on a separate line, so that a command in it can be copied into a shell.
    if (!check.advice.empty()) std::printf("     %-16s -> %s\n", "", check.advice.c_str());
    bad = bad || check.verdict == Verdict::kBad;
  }
  return bad ? kExitFailed : kExitOk;
}

}  // namespace

void add_doctor(CLI::App& app, Action& chosen) {
  CLI::App* verb = app.add_subcommand("doctor", "Check this machine: libraries, limits, plugins");
  verb->footer("Returns 1 if something keeps Trainyard from working, and 0 if there are only warnings.");
  const auto environment = std::make_shared<bool>(false);
  verb->add_flag("--environment", *environment, "show what started this process, such as Slurm, and what it says");
  verb->callback([=, &chosen] {
    chosen = [=] {
      return show(*environment ? examine_environment(environments::facts_of_this_process()) : check_system());
    };
  });
}

}  // namespace trainyard::tools
