// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/submit/mpirun.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "messages/error.h"
#include "tools/trainyard/submit/hand_over.h"
#include "tools/trainyard/submit/shell_word.h"
#include "tools/trainyard/submit/watched_command.h"

namespace trainyard::tools::submit {
namespace {

/// One launch on each host. mpirun would otherwise bind it, and so all of its threads and processes, to one core.
std::vector<std::string> mpirun_command(const Job& job) {
  if (!job.hosts.empty() && job.hosts.size() != job.nodes) {
    throw Error(Code::kInvalidArgument, "--hosts names {} hosts, but the run is on {}", job.hosts.size(), job.nodes);
  }
  std::vector<std::string> words{"mpirun",    "--np", std::to_string(job.nodes), "--map-by", "ppr:1:node",
                                 "--bind-to", "none"};
  if (!job.hosts.empty()) words.insert(words.end(), {"--host", fmt::format("{}", fmt::join(job.hosts, ","))});
  // The variable contains the name of a file, and not the key.
  if (!job.key.empty()) words.insert(words.end(), {"-x", "TRAINYARD_KEY_FILE=" + job.key});
  words.insert(words.end(), job.options.begin(), job.options.end());
  const std::vector<std::string> command = job.command();
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

}  // namespace

std::string Mpirun::text(const Job& job) const { return shell_lines(mpirun_command(job)) + "\n"; }

int Mpirun::hand_over(const Job& job) const {
  const std::vector<std::string> command = mpirun_command(job);
  require_program(command.front());
  return run_watched(command);
}

}  // namespace trainyard::tools::submit
