// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/submit/slurm.h"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "messages/error.h"
#include "messages/printable.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/submit/hand_over.h"
#include "tools/trainyard/submit/quantities.h"
#include "tools/trainyard/submit/sbatch_line.h"
#include "tools/trainyard/submit/shell_word.h"

namespace trainyard::tools::submit {
namespace {

/// Slurm accepts at most this notice for a signal before the time limit. It checks time limits only from time to time,
/// and can send the signal up to a minute early.
constexpr std::chrono::seconds kLongestNotice{65535};

// The parts of the script that are the same for every job. The script sets no trap for SIGTERM, because bash can lose a
// signal that arrives while the trap of another signal runs. It does not ignore SIGTERM either, because the programs
// that it starts would inherit that.

constexpr const char* kStart = R"(
# Slurm sends SIGUSR1 to this script before the time limit. srun passes it on to the run, which saves a checkpoint and
# ends with code 130. On SIGTERM, which the run receives by itself, the script waits for it as well.
told_to_stop= step=
trap 'told_to_stop=yes; [ -z "$step" ] || kill -USR1 "$step"' USR1
trap '' TERM
(trap - TERM; exec {srun} "$@") &
step=$!
[ -z "$told_to_stop" ] || kill -USR1 "$step"
# A signal ends `wait`, but not the step.
while kill -0 "$step" 2>/dev/null; do wait "$step"; done
wait "$step"
code=$?
)";

// mktemp makes a folder that only the user can enter. The script also removes the folder of an earlier start, which may
// have been killed before it could do so.
constexpr const char* kKey = R"(
# The key by which the hosts know each other. It is for this start only, and only you can read it.
if [ -z "${{TRAINYARD_KEY_FILE:-}}" ]; then
  rm -rf -- "$PWD/.key-$SLURM_JOB_ID-"*
  keys=$(mktemp -d "$PWD/.key-$SLURM_JOB_ID-XXXXXX") || exit 1
  trap 'rm -rf -- "$keys"' EXIT
  {program} keys new job --role member --file "$keys/key" >/dev/null || exit 1
  export TRAINYARD_KEY_FILE=$keys/key
fi
)";

constexpr const char* kResume = R"(
# When Slurm starts the job again, the run continues from its newest checkpoint.
if [ "${{SLURM_RESTART_COUNT:-0}}" -gt 0 ]; then
  set -- "$@" {resume}
fi
)";

constexpr const char* kRequeue = R"(
if [ "$told_to_stop" ] && [ "$code" -eq 130 ]; then
  if [ "${{SLURM_RESTART_COUNT:-0}}" -lt {restarts} ]; then
    echo "The time limit is near. The job goes back into the queue, and continues from its checkpoint."
    scontrol requeue "$SLURM_JOB_ID"
  else
    echo "The time limit is near, and the job may not be started again. Submit it once more to continue."
  fi
fi
)";

std::string log_path(const Job& job, const std::string& number) {
  return sbatch_path((std::filesystem::path(job.logs) / job.name).string()) + "-" + number + ".log";
}

void check_notice(const Job& job) {
  if (job.notice > kLongestNotice) {
    throw Error(Code::kInvalidArgument, "--notice is {} s; Slurm allows at most {} s", job.notice.count(),
                kLongestNotice.count());
  }
  if (job.time_limit && job.notice >= *job.time_limit) {
    throw Error(Code::kInvalidArgument, "--notice is {} s; it must be shorter than --time, which is {} s",
                job.notice.count(), job.time_limit->count());
  }
}

std::string directives(const Job& job) {
  std::string text = sbatch_line("job-name", job.name);
  text += sbatch_line("output", log_path(job, "%j")) + sbatch_line("open-mode", "append");
  text += sbatch_line("nodes", std::to_string(job.nodes)) + sbatch_line("ntasks-per-node", "1");
  text += sbatch_line("cpus-per-task", std::to_string(job.cpus));
  if (job.devices() > 0) text += sbatch_line("gpus-per-node", std::to_string(job.devices()));
  if (job.memory_mebibytes) text += sbatch_line("mem", fmt::format("{}M", *job.memory_mebibytes));
  if (job.time_limit) {
    text += sbatch_line("time", slurm_time(*job.time_limit));
    text += sbatch_line("signal", fmt::format("B:USR1@{}", job.notice.count()));
  }
  if (!job.queue.empty()) text += sbatch_line("partition", job.queue);
  text += job.restarts > 0 ? "#SBATCH --requeue\n" : "#SBATCH --no-requeue\n";
  for (const std::string& option : job.options) text += sbatch_line(option);
  return text;
}

/// Returns the srun command. It repeats the number of processors, because srun does not take it over from sbatch. If
/// the launch on one host ends, srun must not kill the others: they end by themselves, and may have to save a
/// checkpoint first.
std::string srun(const Job& job) {
  return fmt::format("srun --ntasks-per-node=1 --cpus-per-task={} --kill-on-bad-exit=0", job.cpus);
}

}  // namespace

std::string Slurm::text(const Job& job) const {
  check_notice(job);
  std::string text = "#!/bin/bash\n# Written by `trainyard submit`. sbatch reads the lines that begin with #SBATCH.\n";
  text += directives(job);
  text += "\n# The run, which srun starts once on each host.\n";
  if (!job.key.empty()) text += "export TRAINYARD_KEY_FILE=" + shell_word(job.key) + "\n";
  if (job.makes_key()) text += fmt::format(kKey, fmt::arg("program", shell_word(job.program)));
  text += "set -- " + shell_lines(job.command()) + "\n";
  const bool resumes = job.restarts > 0 && !job.resume.empty();
  if (resumes) text += fmt::format(kResume, fmt::arg("resume", shell_word(job.resume)));
  text += fmt::format(kStart, fmt::arg("srun", srun(job)));
  // A run that cannot continue is not put back into the queue, because it would begin anew and reach the same time
  // limit again.
  if (job.restarts > 0 && job.continues && job.time_limit)
    text += fmt::format(kRequeue, fmt::arg("restarts", job.restarts));
  return text + "exit \"$code\"\n";
}

int Slurm::hand_over(const Job& job) const {
  const std::string script = text(job);
  require_program("sbatch");
  // If the folder for the output does not exist, Slurm starts the job and lets it fail without any message.
  std::error_code error;
  std::filesystem::create_directories(job.logs, error);
  if (error) throw Error(Code::kIo, "cannot make the folder {} of --logs: {}", job.logs, error.message());
  const std::string answer = printable_line(hand_over_file({"sbatch", "--parsable"}, script));
  // The answer is a number such as "12", or "12;name" if there are several clusters.
  const std::string number = answer.substr(0, answer.find_first_not_of("0123456789"));
  if (number.empty()) throw Error(Code::kIo, "sbatch did not answer with the number of a job: {}", answer);
  std::printf("Slurm has accepted job %s (%s).\n", number.c_str(), job.name.c_str());
  std::printf("  its output   %s/%s-%s.log\n", job.logs.c_str(), job.name.c_str(), number.c_str());
  std::printf("  its state    squeue --job %s\n  to stop it   scancel %s\n", number.c_str(), number.c_str());
  return kExitOk;
}

}  // namespace trainyard::tools::submit
