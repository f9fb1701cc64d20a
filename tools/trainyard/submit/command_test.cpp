// SPDX-License-Identifier: Apache-2.0
// Tests `trainyard submit` with programs that replace sbatch and kubectl.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/keys/key_file.h"
#include "core/testing/temporary_folder.h"
#include "launch/plan/child_output.h"
#include "tools/trainyard/exit_codes.h"

namespace trainyard::tools::submit {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

class SubmitCommandTest : public ::testing::Test {
 protected:
  /// Adds a program that copies the file in its last argument, and then runs the given script.
  void write_engine(const std::string& name, const std::string& script) {
    const std::string copy = "for last; do :; done; cp \"$last\" " + folder_.path("handed-over") + "\n";
    ::chmod(folder_.write("bin/" + name, "#!/bin/sh\n" + copy + script + "\n").c_str(), 0755);
  }

  int submit(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {TRAINYARD_COMMAND, "submit"});
    const launch::ChildOutput output = launch::run_child(arguments, std::chrono::seconds(120),
                                                         {{"XDG_RUNTIME_DIR", folder_.path()},
                                                          {"XDG_CONFIG_HOME", folder_.path()},
                                                          {"XDG_CACHE_HOME", folder_.path()},
                                                          {"PATH", folder_.path("bin") + ":/bin"}});
    out_ = output.text;
    err_ = output.errors;
    return WIFEXITED(output.status) ? WEXITSTATUS(output.status) : -1;
  }

  /// Writes a key file, and returns its path.
  std::string new_key(const std::string& name, core::Role role) const {
    core::write_key_file(folder_.path(name), core::Key::make("host", role));
    return folder_.path(name);
  }

  std::string handed_over() const {
    std::ostringstream text;
    text << std::ifstream(folder_.path("handed-over")).rdbuf();
    return text.str();
  }

  trainyard::testing::TemporaryFolder folder_;
  std::string out_, err_;
};

TEST_F(SubmitCommandTest, EveryMistakeIsOneLineThatSaysWhatIsAllowed) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> mistakes{
      {{"mlp.toml", "--engine", "slrum"}, "no engine 'slrum'; did you mean 'slurm'?"},
      {{"mlp.toml"}, "--engine is required"},
      {{"mlp.tml", "--engine", "slurm"}, "did you mean 'mlp.toml'?"},
      {{"mlp.toml", "precisions=32", "--engine", "slurm"}, "did you mean 'precision'?"},
      {{"mlp.toml", "devices=-1", "--engine", "slurm"}, "devices = -1 means all that there are"},
      {{"mlp.toml", "--engine", "mpirun", "--time", "2h"}, "the engine mpirun has no --time; it is for slurm, jobset"},
      {{"mlp.toml", "--engine", "slurm", "--image", "x"},
       "the engine slurm has no --image; it is for jobset, trainjob"},
      {{"mlp.toml", "--engine", "trainjob"}, "the engine trainjob needs --image"},
      {{"mlp.toml", "--engine", "slurm", "--time", "90"}, "--time is '90'; allowed: a time"},
      {{"mlp.toml", "--engine", "slurm", "--time", "1m"}, "--notice is 120 s; it must be shorter than --time"},
      {{"mlp.toml", "--engine", "slurm", "--name", "a b"}, "--name is 'a b'; allowed: letters, digits"},
      {{"mlp.toml", "--engine", "slurm", "--cpus", "0"}, "--cpus is 0; allowed: a whole number from 1"},
      {{"mlp.toml", "--engine", "slurm", "--key", new_key("watch.key", core::Role::kWatch)}, "has the role watch"},
      {{"mlp.toml", "--engine", "slurm", "--option", "x"}, "--option is 'x'; allowed: an option of sbatch"},
      {{"mlp.toml", "--engine", "jobset", "--image", "x", "--volume", "data"},
       "--volume is 'data'; allowed: CLAIM:PATH"},
      {{"mlp.toml", "--engine", "mpirun", "--hosts", "a,b"}, "--hosts names 2 hosts, but the run is on 1"},
      {{"mlp.toml", "component.checkpoint_writer.params.resume=best", "--engine", "slurm"},
       "resume is 'best', but a job that is started again must continue"},
  };
  for (const auto& [arguments, message] : mistakes) {
    EXPECT_EQ(submit(arguments), kExitUsage) << message;
    EXPECT_THAT(err_, StartsWith("trainyard: ")) << message;
    EXPECT_THAT(err_, HasSubstr(message));
    EXPECT_EQ(std::ranges::count(err_, '\n'), 1) << err_;
    EXPECT_THAT(out_, IsEmpty());
  }
}

TEST_F(SubmitCommandTest, WithoutTheEnginesProgramNothingIsHandedOver) {
  EXPECT_EQ(submit({"mlp.toml", "--engine", "slurm", "--logs", folder_.path("logs")}), kExitNotFound);
  EXPECT_THAT(err_, HasSubstr("there is no program sbatch in PATH"));
  EXPECT_FALSE(std::filesystem::exists(folder_.path("logs")));
}

TEST_F(SubmitCommandTest, WhatIsHandedOverIsWhatADryRunPrints) {
  write_engine("sbatch", "echo '12;cluster'");
  const std::vector<std::string> job{"mlp.toml", "devices=2", "--engine", "slurm", "--logs", folder_.path("the logs")};
  ASSERT_EQ(submit(job), kExitOk) << err_;
  EXPECT_THAT(out_, StartsWith("Slurm has accepted job 12 (mlp).\n"));
  EXPECT_TRUE(std::filesystem::is_directory(folder_.path("the logs"))) << "Slurm would not make it";
  std::vector<std::string> dry = job;
  dry.push_back("--dry-run");
  ASSERT_EQ(submit(dry), kExitOk) << err_;
  EXPECT_EQ(handed_over(), out_);
  EXPECT_THAT(out_, HasSubstr(" launch mlp.toml devices=2\n"));

  write_engine("kubectl", "echo 'jobset.jobset.x-k8s.io/mlp created'");
  const std::vector<std::string> pods{
      "mlp.toml", "--engine", "jobset", "--image", "trainyard:1", "--key", new_key("my key", core::Role::kMember)};
  ASSERT_EQ(submit(pods), kExitOk) << err_;
  EXPECT_THAT(out_, StartsWith("jobset.jobset.x-k8s.io/mlp created\n"));
  EXPECT_THAT(err_,
              HasSubstr("kubectl create secret generic mlp-key --from-file=key='" + folder_.path("my key") + "'\n"));
  EXPECT_THAT(handed_over(), HasSubstr("kind: JobSet\n"));
}

TEST_F(SubmitCommandTest, AKeyForPodsIsMadeWithTheJobAndBelongsToIt) {
  write_engine("kubectl", "echo \"$@\" >> " + folder_.path("words") + "\ncase \"$*\" in *jsonpath*) cp \"$last\" " +
                              folder_.path("job") + "; printf 01ab-2 ;; *) echo 'secret/mlp-key created' ;; esac");
  const std::vector<std::string> pods{"mlp.toml", "nodes=2", "--engine",    "jobset",
                                      "--image",  "x",       "--namespace", "lab"};
  ASSERT_EQ(submit(pods), kExitOk) << err_;
  EXPECT_THAT(out_, StartsWith("JobSet mlp created\nsecret/mlp-key created\n"));
  const auto secret = nlohmann::json::parse(handed_over());
  EXPECT_EQ(secret["metadata"], nlohmann::json::parse(R"({"name": "mlp-key", "namespace": "lab", "ownerReferences": [
    {"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet", "name": "mlp", "uid": "01ab-2"}]})"));
  const std::string text = secret["stringData"]["key"];
  EXPECT_THAT(text, HasSubstr("role member\n"));
  // Neither a command line nor the output contains the key.
  std::ostringstream words;
  words << std::ifstream(folder_.path("words")).rdbuf();
  EXPECT_THAT(words.str() + out_ + err_, Not(HasSubstr(text.substr(text.find("secret ") + 7, 40))));
  std::ostringstream job;
  job << std::ifstream(folder_.path("job")).rdbuf();
  EXPECT_THAT(job.str(), HasSubstr("secretName: mlp-key"));
  std::vector<std::string> dry = pods;
  dry.push_back("--dry-run");
  ASSERT_EQ(submit(dry), kExitOk) << err_;
  EXPECT_EQ(job.str(), out_);
}

TEST_F(SubmitCommandTest, AKeyForMpirunIsInAPrivateFolderUntilTheRunEnds) {
  ::chmod(folder_
              .write("bin/mpirun",
                     "#!/bin/sh\nfor word; do case $word in TRAINYARD_KEY_FILE=*) file=${word#*=} ;; esac; done\n"
                     "{ echo $file; stat -c %a $file ${file%/*}; grep role $file; } > " +
                         folder_.path("handed-over") + "; exit 7\n")
              .c_str(),
          0755);
  EXPECT_EQ(submit({"mlp.toml", "nodes=2", "--engine", "mpirun", "--hosts", "a,b"}), 7) << err_;
  const std::string file = handed_over().substr(0, handed_over().find('\n'));
  EXPECT_EQ(handed_over(), file + "\n600\n700\nrole member\n");
  EXPECT_FALSE(std::filesystem::exists(std::filesystem::path(file).parent_path()));
}

TEST_F(SubmitCommandTest, MpirunPassesOnTheFileThatAVariableNames) {
  const std::vector<std::string> job{"mlp.toml", "nodes=2", "--engine", "mpirun", "--dry-run"};
  ASSERT_EQ(submit(job), kExitOk) << err_;
  EXPECT_THAT(out_, HasSubstr("keys new job"));
  ::setenv("TRAINYARD_KEY_FILE", "/home/me/key", 1);
  EXPECT_EQ(submit(job), kExitOk) << err_;
  ::unsetenv("TRAINYARD_KEY_FILE");
  EXPECT_THAT(out_, Not(HasSubstr("keys new job")));
  EXPECT_THAT(out_, HasSubstr(" -x TRAINYARD_KEY_FILE "));
  EXPECT_THAT(out_, Not(HasSubstr("/home/me/key"))) << "mpirun takes the value from its environment";
}

TEST_F(SubmitCommandTest, WhatTheEngineSaysAgainstAJobIsShown) {
  write_engine("sbatch", "echo 'sbatch: error: invalid \x1b[31mpartition' >&2; exit 1");
  EXPECT_EQ(submit({"mlp.toml", "--engine", "slurm", "--logs", folder_.path("logs")}), kExitFailed);
  EXPECT_THAT(err_, HasSubstr("sbatch refused the job: sbatch: error: invalid "));
  EXPECT_EQ(err_.find('\x1b'), err_.npos);
  write_engine("sbatch", "echo nonsense");
  EXPECT_EQ(submit({"mlp.toml", "--engine", "slurm", "--logs", folder_.path("logs")}), kExitFailed);
  EXPECT_THAT(err_, HasSubstr("sbatch did not answer with the number of a job: nonsense"));
}

TEST_F(SubmitCommandTest, AKeyThatOthersCanReadIsRefusedBeforeTheJobIsInTheQueue) {
  const std::string path = new_key("host.key", core::Role::kMember);
  ::chmod(path.c_str(), 0644);
  EXPECT_EQ(submit({"mlp.toml", "--engine", "slurm", "--dry-run", "--key", path}), kExitUsage);
  EXPECT_THAT(err_, HasSubstr(path));
  EXPECT_THAT(out_, IsEmpty());
  EXPECT_EQ(submit({"mlp.toml", "--engine", "slurm", "--dry-run", "--key", "/none"}), kExitNotFound);
}

TEST_F(SubmitCommandTest, DevicesThatOnlyTheHostsHaveAreAskedFor) {
  // This machine could not run the launch: its simulated accelerator has only a few devices.
  ASSERT_EQ(submit({"mlp.toml", "devices=16", "accelerator=simulated", "--engine", "slurm", "--dry-run"}), kExitOk)
      << err_;
  EXPECT_THAT(out_, HasSubstr("#SBATCH --gpus-per-node=16\n"));
}

}  // namespace
}  // namespace trainyard::tools::submit
