// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/submit/mpirun.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <stdlib.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>

#include "core/files/regular_file.h"
#include "core/keys/key_file.h"
#include "core/keys/key_folder.h"
#include "launch/hosts/host_key.h"
#include "messages/error.h"
#include "tools/trainyard/submit/hand_over.h"
#include "tools/trainyard/submit/shell_word.h"
#include "tools/trainyard/submit/watched_command.h"

namespace trainyard::tools::submit {
namespace {

/// Returns true if the command must make a new key for the run. If the hosts have no common folder, users have copied a
/// key to the folder of keys on all hosts instead, where the launch finds it.
bool makes_key(const Job& job) {
  return job.makes_key() && std::getenv(launch::kKeyFileVariable) == nullptr &&
         !core::is_there(core::KeyFolder().own_path("host"));
}

/// A new key in a new folder below the current folder, which only the user can enter. The destructor removes the key
/// and the folder.
class RunKey {
 public:
  RunKey() : folder_((std::filesystem::current_path() / ".key-XXXXXX").string()) {
    if (::mkdtemp(folder_.data()) == nullptr) {
      throw Error(Code::kIo, "cannot make a folder {} for the key of the hosts: {}", folder_, std::strerror(errno));
    }
    core::write_key_file(file(), core::Key::make("job", core::Role::kMember));
  }
  ~RunKey() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  RunKey(const RunKey&) = delete;
  RunKey& operator=(const RunKey&) = delete;

  std::string file() const { return folder_ + "/key"; }

 private:
  std::string folder_;
};

/// The shell commands that do the same as RunKey, for --dry-run.
constexpr const char* kMakeKey = R"(keys=$(mktemp -d "$PWD/.key-XXXXXX") && trap 'rm -rf -- "$keys"' EXIT || exit 1
{program} keys new job --role member --file "$keys/key" >/dev/null || exit 1
export TRAINYARD_KEY_FILE=$keys/key
)";

/// Returns the mpirun command, which starts one launch on each host. Binding is switched off, because mpirun would
/// otherwise bind the launch, with all its threads and processes, to one core.
std::vector<std::string> mpirun_command(const Job& job, const std::string& key) {
  if (!job.hosts.empty() && job.hosts.size() != job.nodes) {
    throw Error(Code::kInvalidArgument, "--hosts names {} hosts, but the run is on {}", job.hosts.size(), job.nodes);
  }
  std::vector<std::string> words{"mpirun",    "--np", std::to_string(job.nodes), "--map-by", "ppr:1:node",
                                 "--bind-to", "none"};
  if (!job.hosts.empty()) words.insert(words.end(), {"--host", fmt::format("{}", fmt::join(job.hosts, ","))});
  // The variable contains only the path of the key file, not the key, so it may appear on the command line.
  if (!key.empty()) words.insert(words.end(), {"-x", key});
  words.insert(words.end(), job.options.begin(), job.options.end());
  const std::vector<std::string> command = job.command();
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

/// Returns the argument of mpirun's option -x that tells the hosts which file contains the key; empty if no variable
/// tells them so. `key` is the file that was made or that the job specifies; it may be empty.
std::string key_variable(const Job& job, const std::string& key) {
  if (!key.empty()) return fmt::format("{}={}", launch::kKeyFileVariable, key);
  // mpirun passes on the value of a variable of its own environment only if it is told to.
  const bool is_set = std::getenv(launch::kKeyFileVariable) != nullptr;
  return job.makes_key() && is_set ? launch::kKeyFileVariable : "";
}

}  // namespace

std::string Mpirun::text(const Job& job) const {
  if (!makes_key(job)) return shell_lines(mpirun_command(job, key_variable(job, job.key))) + "\n";
  return fmt::format(kMakeKey, fmt::arg("program", shell_word(job.program))) +
         shell_lines(mpirun_command(job, launch::kKeyFileVariable)) + "\n";
}

int Mpirun::hand_over(const Job& job) const {
  std::optional<RunKey> own;
  if (makes_key(job)) own.emplace();
  const std::vector<std::string> command = mpirun_command(job, key_variable(job, own ? own->file() : job.key));
  require_program(command.front());
  return run_watched(command);
}

}  // namespace trainyard::tools::submit
