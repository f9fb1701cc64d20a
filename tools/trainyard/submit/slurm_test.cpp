// SPDX-License-Identifier: Apache-2.0
// Runs the batch script in the same way as Slurm, with programs that replace srun and scontrol.
// tests/lab/submit_test.py submits the script to a real Slurm.
#include "tools/trainyard/submit/slurm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "core/keys/key_file.h"
#include "core/testing/temporary_folder.h"
#include "launch/plan/child_output.h"
#include "messages/error.h"

namespace trainyard::tools::submit {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

Job small_job() {
  Job job;
  job.program = "/opt/trainyard/bin/trainyard";
  job.file = "my mlp.toml";
  job.arguments = {"devices=2", "component.x.params.text=it's $(touch hit)"};
  job.ranks = 2;
  job.accelerator = "cpu";
  job.continues = true;
  job.resume = "component.checkpoint_writer.params.resume=auto";
  job.name = "mlp";
  job.cpus = 4;
  job.restarts = 3;
  job.logs = "logs";
  return job;
}

class SlurmScriptTest : public ::testing::Test {
 protected:
  SlurmScriptTest() {
    write_program("scontrol", "echo \"$@\" >> \"$FOLDER/requeued\"");
    write_program("srun", "printf '%s\\n' \"$@\" > \"$FOLDER/started\"; env > \"$FOLDER/env\"; exit 0");
  }

  void write_program(const std::string& name, const std::string& script) const {
    ::chmod(folder_.write("bin/" + name, "#!/bin/bash\n" + script + "\n").c_str(), 0755);
  }

  /// Runs the batch script, and returns its exit code.
  int run(const Job& job, std::map<std::string, std::string> variables = {}) {
    variables["FOLDER"] = folder_.path();
    variables["PATH"] = folder_.path("bin") + ":/usr/bin:/bin";
    variables["SLURM_JOB_ID"] = "12";
    const std::string path = folder_.write("script", Slurm().text(job));
    output_ = launch::run_child({"bash", path}, std::chrono::seconds(60), variables);
    return WIFEXITED(output_.status) ? WEXITSTATUS(output_.status) : -1;
  }

  std::vector<std::string> lines(const std::string& name) const {
    std::ifstream file(folder_.path(name));
    std::vector<std::string> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(line);
    return lines;
  }

  trainyard::testing::TemporaryFolder folder_;
  launch::ChildOutput output_;
};

std::string script_error(const Job& job) {
  try {
    Slurm().text(job);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(SlurmScriptTest, StartsTheRunOnceOnEachHostWithItsArgumentsUnchanged) {
  EXPECT_EQ(run(small_job()), 0) << output_.errors;
  EXPECT_THAT(lines("started"), ElementsAre("--ntasks-per-node=1", "--cpus-per-task=4", "--kill-on-bad-exit=0",
                                            "/opt/trainyard/bin/trainyard", "launch", "my mlp.toml", "devices=2",
                                            "component.x.params.text=it's $(touch hit)"));
  EXPECT_THAT(lines("requeued"), IsEmpty());
  EXPECT_EQ(output_.errors, "");
}

TEST_F(SlurmScriptTest, AStartAfterTheFirstContinuesFromTheNewestCheckpoint) {
  run(small_job(), {{"SLURM_RESTART_COUNT", "1"}});
  EXPECT_EQ(lines("started").back(), "component.checkpoint_writer.params.resume=auto");
  Job job = small_job();
  job.resume = "";
  run(job, {{"SLURM_RESTART_COUNT", "1"}});
  EXPECT_EQ(lines("started").back(), job.arguments.back());
}

/// A program that imitates a run: it stops only on SIGUSR1, even if the script receives several signals.
constexpr const char* kStops =
    "trap 'sleep 0.2; exit 130' USR1; kill -TERM $PPID; kill -USR1 $PPID; while :; do sleep 0.05; done";

TEST_F(SlurmScriptTest, ARunThatIsToldToStopGoesBackIntoTheQueue) {
  Job job = small_job();
  job.time_limit = std::chrono::minutes(10);
  write_program("srun", kStops);
  EXPECT_EQ(run(job), 130) << output_.errors;
  EXPECT_THAT(lines("requeued"), ElementsAre("requeue 12"));
  EXPECT_THAT(output_.text, HasSubstr("The job goes back into the queue"));
  EXPECT_EQ(output_.errors, "");
}

TEST_F(SlurmScriptTest, ItDoesSoOnlyAsOftenAsIsAllowed) {
  Job job = small_job();
  job.time_limit = std::chrono::minutes(10);
  write_program("srun", kStops);
  EXPECT_EQ(run(job, {{"SLURM_RESTART_COUNT", "2"}}), 130);
  EXPECT_THAT(lines("requeued"), ElementsAre("requeue 12"));
  EXPECT_EQ(run(job, {{"SLURM_RESTART_COUNT", "3"}}), 130);
  EXPECT_THAT(lines("requeued"), ElementsAre("requeue 12"));
  EXPECT_THAT(output_.text, HasSubstr("Submit it once more to continue"));
  job.restarts = 0;
  EXPECT_EQ(run(job), 130);
  EXPECT_THAT(lines("requeued"), ElementsAre("requeue 12"));
  // The job is not requeued, because the run could not continue and would reach the time limit again.
  job.restarts = 3;
  job.continues = false;
  EXPECT_EQ(run(job), 130);
  EXPECT_THAT(lines("requeued"), ElementsAre("requeue 12"));
}

TEST_F(SlurmScriptTest, ARunThatFailsOrFinishesInSpiteOfTheSignalDoesNotGoBack) {
  Job job = small_job();
  job.time_limit = std::chrono::minutes(10);
  for (const int code : {0, 1, 2, 137}) {
    write_program("srun",
                  "trap 'exit " + std::to_string(code) + "' USR1; kill -USR1 $PPID; while :; do sleep 0.05; done");
    EXPECT_EQ(run(job), code);
    EXPECT_THAT(lines("requeued"), IsEmpty()) << code;
  }
  // The run was stopped by a user and not by Slurm.
  write_program("srun", "exit 130");
  EXPECT_EQ(run(job), 130);
  EXPECT_THAT(lines("requeued"), IsEmpty());
}

TEST_F(SlurmScriptTest, AsksForWhatTheRunNeeds) {
  Job job = small_job();
  job.nodes = 2;
  job.accelerator = "cuda";
  job.memory_mebibytes = 65536;
  job.time_limit = std::chrono::hours(25);
  job.notice = std::chrono::minutes(5);
  job.queue = "gpu,big";
  job.key = "/home/me/my key";
  job.options = {"--account=physics", "--exclusive"};
  EXPECT_EQ(run(job), 0) << output_.errors;
  std::vector<std::string> asked;
  for (const std::string& line : lines("script")) {
    if (line.starts_with("#SBATCH ")) asked.push_back(line.substr(8));
  }
  EXPECT_THAT(asked, ElementsAre("--job-name=mlp", "--output=logs/mlp-%j.log", "--open-mode=append", "--nodes=2",
                                 "--ntasks-per-node=1", "--cpus-per-task=4", "--gpus-per-node=2", "--mem=65536M",
                                 "--time=1-01:00:00", "--signal=B:USR1@300", "--partition=gpu,big", "--requeue",
                                 "--account=physics", "--exclusive"));
  EXPECT_THAT(lines("env"), ::testing::Contains("TRAINYARD_KEY_FILE=/home/me/my key"));
}

TEST_F(SlurmScriptTest, SeveralHostsGetAKeyOfTheirOwnThatIsGoneAfterwards) {
  Job job = small_job();
  job.nodes = 2;
  job.program = TRAINYARD_COMMAND;
  write_program("srun",
                "cp \"$TRAINYARD_KEY_FILE\" \"$FOLDER/key\"; stat -c %a \"$TRAINYARD_KEY_FILE\" "
                "\"$(dirname \"$TRAINYARD_KEY_FILE\")\" > \"$FOLDER/modes\"; echo \"$TRAINYARD_KEY_FILE\" > "
                "\"$FOLDER/path\"; exit 3");
  EXPECT_EQ(run(job), 3) << output_.errors;
  EXPECT_EQ(core::read_key_file(folder_.path("key")).role, core::Role::kMember);
  EXPECT_THAT(lines("modes"), ElementsAre("600", "700"));
  EXPECT_FALSE(std::filesystem::exists(lines("path").front()));
  EXPECT_EQ(output_.text + output_.errors, "") << "nothing of the key is in the log";
  // A key file that the user has named is not removed.
  EXPECT_EQ(run(job, {{"TRAINYARD_KEY_FILE", folder_.path("key")}}), 3) << output_.errors;
  EXPECT_THAT(lines("path"), ElementsAre(folder_.path("key")));
  job.names_key = true;
  EXPECT_THAT(Slurm().text(job), Not(HasSubstr("keys new")));
}

TEST_F(SlurmScriptTest, WithoutATimeLimitThereIsNoSignalAndWithoutRestartsNoRequeue) {
  Job job = small_job();
  job.restarts = 0;
  const std::string text = Slurm().text(job);
  EXPECT_THAT(text, Not(HasSubstr("--signal")));
  EXPECT_THAT(text, HasSubstr("#SBATCH --no-requeue\n"));
  EXPECT_THAT(text, Not(HasSubstr("scontrol")));
}

TEST_F(SlurmScriptTest, EveryLineThatSbatchReadsIsOneThatWeMeant) {
  // sbatch reads all lines that begin with #SBATCH up to the first command, even if they are inside quotes of the
  // shell.
  Job job = small_job();
  job.file = "a\n#SBATCH --uid=0\nb.toml";
  job.arguments = {"x=\n#SBATCH --wrap=id"};
  const std::string text = Slurm().text(job);
  const std::size_t first_command = text.find("\nset -- ");
  ASSERT_NE(first_command, text.npos);
  EXPECT_EQ(text.find("--uid=0", 0) < first_command, false);
  EXPECT_EQ(run(job), 0) << output_.errors;
  for (std::string* value : {&job.logs, &job.name}) {
    Job attacked = small_job();
    *(value == &job.logs ? &attacked.logs : &attacked.name) = "a\n#SBATCH --uid=0";
    EXPECT_THAT(script_error(attacked), HasSubstr("control character"));
  }
}

TEST_F(SlurmScriptTest, ANoticeThatDoesNotFitIsRefused) {
  Job job = small_job();
  job.time_limit = std::chrono::seconds(120);
  EXPECT_EQ(script_error(job), "--notice is 120 s; it must be shorter than --time, which is 120 s");
  job.time_limit = std::chrono::hours(100);
  job.notice = std::chrono::hours(20);
  EXPECT_EQ(script_error(job), "--notice is 72000 s; Slurm allows at most 65535 s");
}

}  // namespace
}  // namespace trainyard::tools::submit
