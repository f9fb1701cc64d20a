// SPDX-License-Identifier: Apache-2.0
#include "collectives/mpi/own_job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>

#include "core/rendezvous/rendezvous.h"
#include "messages/error.h"

extern char** environ;

namespace trainyard::collectives {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr auto kLook = std::chrono::milliseconds(10);
constexpr auto kPatience = std::chrono::seconds(5);

/// The shell script of a place. It writes its environment to a file, then waits. The place of rank 0 exits with an
/// error when mpirun's input ends, upon which mpirun ends the other places.
constexpr const char* kPlace =
    "place=$0/$OMPI_COMM_WORLD_RANK; env -0 > $place.new && mv $place.new $place; "
    "if [ $OMPI_COMM_WORLD_RANK = 0 ]; then cat > /dev/null; exit 1; else exec sleep infinity; fi";

/// Returns true for an environment variable that mpirun sets for the processes that it starts.
bool is_of_mpi(std::string_view variable) {
  return variable.starts_with("OMPI_") || variable.starts_with("PMIX_") || variable.starts_with("OPAL_");
}

std::string read_all(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string mpirun_in_path() {
  const char* path = std::getenv("PATH");
  std::string_view rest = path == nullptr ? "" : path;
  while (!rest.empty()) {
    const std::string_view folder = rest.substr(0, rest.find(':'));
    rest.remove_prefix(std::min(rest.size(), folder.size() + 1));
    const std::string program = std::string(folder) + "/mpirun";
    if (!folder.empty() && ::access(program.c_str(), X_OK) == 0) return program;
  }
  return {};
}

/// Returns a null-terminated array of C strings, as exec() requires. The pointers refer to `texts`.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Returns the command for an mpirun that uses only this host and writes all its files to `folder`.
std::vector<std::string> mpirun_command(std::uint32_t places, const std::string& folder) {
  return {"mpirun",
          "-n",
          std::to_string(places),
          "--oversubscribe",
          "--bind-to",
          "none",
          "--mca",
          "plm",
          "isolated",
          "--mca",
          "oob_tcp_if_include",
          "lo",
          "--mca",
          "btl_vader_backing_directory",
          folder,
          "sh",
          "-c",
          kPlace,
          folder};
}

/// Returns the environment of this process without the variables that another mpirun has set. The user's settings of
/// MPI (OMPI_MCA_...) are kept.
std::vector<std::string> mpirun_environment(const std::string& folder) {
  std::vector<std::string> environment{"TMPDIR=" + folder};
  // mpirun refuses to run as root unless both variables are set. In a container, root is often the only user.
  if (::geteuid() == 0) {
    environment.insert(environment.end(), {"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"});
  }
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const bool is_setting = text.starts_with("OMPI_MCA_");
    if (is_setting || (!is_of_mpi(text) && !text.starts_with("TMPDIR="))) environment.emplace_back(text);
  }
  return environment;
}

/// A running mpirun that this process has started. It ends when its input ends, so it cannot outlive this process.
class OwnMpirun {
 public:
  OwnMpirun(std::uint32_t places, const fs::path& folder) : folder_(folder) {
    fs::create_directories(folder_);
    int input[2];
    if (::pipe2(input, O_CLOEXEC) != 0) throw Error(Code::kIo, "mpi: cannot make a pipe: {}", std::strerror(errno));
    input_ = input[1];
    const int failure = spawn(places, input[0]);
    ::close(input[0]);
    if (failure != 0) throw Error(Code::kIo, "mpi: cannot start mpirun: {}", std::strerror(failure));
  }
  OwnMpirun(const OwnMpirun&) = delete;
  OwnMpirun& operator=(const OwnMpirun&) = delete;

  ~OwnMpirun() {
    ::close(input_);
    const auto deadline = Clock::now() + kPatience;
    while (!ended() && Clock::now() < deadline) std::this_thread::sleep_for(kLook);
    if (!ended_) {
      ::kill(-pid_, SIGKILL);
      ::waitpid(pid_, nullptr, 0);
    }
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

  bool ended() {
    if (!ended_) ended_ = ::waitpid(pid_, nullptr, WNOHANG) == pid_;
    return ended_;
  }

  /// Returns the beginning of what mpirun has printed, as one line.
  std::string log() const {
    std::string text = read_all(folder_ / "log").substr(0, 2000);
    std::ranges::replace(text, '\n', ' ');
    return text;
  }

 private:
  int spawn(std::uint32_t places, int input) {
    posix_spawn_file_actions_t files;
    ::posix_spawn_file_actions_init(&files);
    ::posix_spawn_file_actions_adddup2(&files, input, STDIN_FILENO);
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, (folder_ / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND,
                                       0600);
    ::posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    posix_spawnattr_t attributes;
    ::posix_spawnattr_init(&attributes);
    // mpirun gets a separate process group, so that signals for this process's group do not reach it.
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    sigset_t none, all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    std::vector<std::string> command = mpirun_command(places, folder_.string());
    std::vector<std::string> environment = mpirun_environment(folder_.string());
    const int failure = ::posix_spawnp(&pid_, "mpirun", &files, &attributes, pointers_to(command).data(),
                                       pointers_to(environment).data());
    ::posix_spawnattr_destroy(&attributes);
    ::posix_spawn_file_actions_destroy(&files);
    return failure;
  }

  fs::path folder_;
  pid_t pid_ = 0;
  int input_ = -1;
  bool ended_ = false;
};

/// The data of this process's place. There is one process for each rank, so each process has one place.
struct Place {
  fs::path folder;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
  std::unique_ptr<OwnMpirun> mpirun;  ///< Null except on rank 0.
};
std::unique_ptr<Place> own_place;

/// Waits for `file` and returns those variables of the place's environment that belong to MPI, each followed by a null
/// byte.
std::string environment_of_place(OwnMpirun& mpirun, const fs::path& file, Clock::time_point deadline) {
  while (!fs::exists(file)) {
    if (mpirun.ended()) throw Error(Code::kIo, "mpi: mpirun ended before it offered all places: {}", mpirun.log());
    if (Clock::now() > deadline) throw Error(Code::kTimeout, "mpi: mpirun did not offer all places: {}", mpirun.log());
    std::this_thread::sleep_for(kLook);
  }
  std::string wanted;
  const std::string all = read_all(file);
  for (std::size_t at = 0; at < all.size();) {
    const std::string variable = all.c_str() + at;
    if (is_of_mpi(variable)) wanted.append(variable).append(1, '\0');
    at += variable.size() + 1;
  }
  return wanted;
}

std::string key_of(std::uint32_t rank) { return fmt::format("mpi/place{}", rank); }

void offer_places(const CollectiveContext& context, Place& place) {
  const auto deadline = Clock::now() + context.timeout;
  place.mpirun = std::make_unique<OwnMpirun>(place.ranks, place.folder);
  for (std::uint32_t rank = 0; rank < place.ranks; ++rank) {
    context.rendezvous->put(key_of(rank),
                            environment_of_place(*place.mpirun, place.folder / std::to_string(rank), deadline));
  }
}

}  // namespace

bool is_of_a_run() { return std::getenv("TRAINYARD_RUN_DIRECTORY") != nullptr; }

void check_places(const CollectiveContext& context) {
  if (!mpirun_in_path().empty()) return;
  throw Error(Code::kUnsupported, "{}: mpirun is not in PATH; install openmpi-bin, or choose another collective",
              context.where);
}

// MPI would treat all threads of a process as the same rank.
void refuse_shared_process(const CollectiveContext& context) {
  const std::vector<std::string> processes =
      core::exchange(*context.rendezvous, context.name + "/mpi_process", context.rank, context.ranks,
                     std::to_string(::getpid()), context.timeout);
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const auto twin = std::find(processes.begin() + static_cast<std::ptrdiff_t>(i) + 1, processes.end(), processes[i]);
    if (twin == processes.end()) continue;
    throw Error(Code::kUnsupported,
                "{}: ranks {} and {} share a process, and MPI needs one for each rank; placement = \"ranks\" or "
                "\"processes\", or another collective",
                context.where, context.ranks[i], context.ranks[static_cast<std::size_t>(twin - processes.begin())]);
  }
}

void take_place(const CollectiveContext& context) {
  own_place = std::make_unique<Place>();
  own_place->folder = fs::path(std::getenv("TRAINYARD_RUN_DIRECTORY")) / "mpi";
  own_place->rank = context.rank;
  own_place->ranks = context.world_size;
  if (context.rank == 0) offer_places(context, *own_place);
  const std::string environment = context.rendezvous->get(key_of(context.rank), context.timeout);
  for (std::size_t at = 0; at < environment.size();) {
    const std::string variable = environment.c_str() + at;
    const std::size_t equals = variable.find('=');
    ::setenv(variable.substr(0, equals).c_str(), variable.substr(equals + 1).c_str(), 1);
    at += variable.size() + 1;
  }
}

void give_place_back(Farewell farewell) {
  if (own_place == nullptr) return;
  const auto left = [](std::uint32_t rank) { return own_place->folder / fmt::format("left{}", rank); };
  if (own_place->rank != 0) {
    std::ofstream(left(own_place->rank)).flush();
  } else if (farewell == Farewell::kTogether) {
    const auto deadline = Clock::now() + kPatience;
    for (std::uint32_t rank = 1; rank < own_place->ranks; ++rank) {
      while (!fs::exists(left(rank)) && Clock::now() < deadline) std::this_thread::sleep_for(kLook);
    }
  }
  own_place.reset();
}

}  // namespace trainyard::collectives
