// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/launch_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace trainyard::testing {

namespace fs = std::filesystem;

namespace {

std::string content(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// Returns the fields of /proc/PID/stat that follow the name of the command, which is in parentheses.
std::string stat_of(pid_t pid) {
  const std::string text = content("/proc/" + std::to_string(pid) + "/stat");
  const auto bracket = text.rfind(')');
  return bracket == std::string::npos ? "" : text.substr(bracket + 2);
}

}  // namespace

Command::Command(const std::vector<std::string>& arguments, const fs::path& directory) {
  static std::atomic<int> number{0};
  const std::string stem = "command" + std::to_string(number++);
  out_ = directory / (stem + ".out");
  err_ = directory / (stem + ".err");
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  pid_ = ::fork();
  if (pid_ != 0) {
    // The parent also sets the process group, because the destructor needs it even if it runs before the child has set
    // the group.
    ::setpgid(pid_, pid_);
    return;
  }
  ::setpgid(0, 0);  // The command gets a separate process group, as from an interactive shell.
  ::dup2(::open("/dev/null", O_RDONLY), 0);
  ::dup2(::open(out_.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600), 1);
  ::dup2(::open(err_.c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600), 2);
  if (::chdir(directory.c_str()) == 0) ::execvp(argv[0], argv.data());
  ::_exit(127);
}

Command::~Command() {
  if (!reaped_) {
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, &status_, 0);
  }
}

void Command::signal(int number) const { ::kill(pid_, number); }

bool Command::running() {
  if (!reaped_ && ::waitpid(pid_, &status_, WNOHANG) == pid_) reaped_ = true;
  return !reaped_;
}

int Command::wait(std::chrono::seconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (running()) {
    if (std::chrono::steady_clock::now() > end) {
      ADD_FAILURE() << "the command did not end in " << deadline.count() << " s; it said:\n" << all();
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
}

std::string Command::out() const { return content(out_); }
std::string Command::err() const { return content(err_); }

LaunchTest::LaunchTest() {
  std::string pattern = (fs::temp_directory_path() / "ty-XXXXXX").string();
  directory_ = ::mkdtemp(pattern.data());
  ::setenv("TRAINYARD_PLUGIN_PATH", TRAINYARD_TEST_PLUGINS, 1);
  ::setenv("XDG_RUNTIME_DIR", directory_.c_str(), 1);
  // All tests of this build share one cache, so descriptions are made once.
  ::setenv("XDG_CACHE_HOME", (fs::temp_directory_path() / ("ty-cache-" + std::to_string(::getuid()))).c_str(), 1);
}

// A run that the test has killed may still be removing its own files.
LaunchTest::~LaunchTest() {
  std::error_code error;
  for (int i = 0; i < 100 && fs::exists(directory_); ++i) fs::remove_all(directory_, error);
}

std::string LaunchTest::file(const std::string& text, const std::string& name) {
  std::ofstream(directory_ / name) << text;
  return (directory_ / name).string();
}

std::unique_ptr<Command> LaunchTest::run(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), TRAINYARD_PROGRAM);
  return std::make_unique<Command>(arguments, directory_);
}

std::unique_ptr<Command> LaunchTest::launch(const std::string& path, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), {"launch", path});
  return run(std::move(arguments));
}

bool LaunchTest::eventually(const std::function<bool()>& done, std::chrono::seconds deadline) {
  const auto end = std::chrono::steady_clock::now() + deadline;
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return true;
}

bool LaunchTest::alive(pid_t pid) {
  const std::string stat = stat_of(pid);
  return !stat.empty() && stat[0] != 'Z';
}

std::vector<pid_t> LaunchTest::descendants(pid_t root) {
  std::vector<pid_t> found{root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
      const pid_t pid = std::atoi(entry.path().filename().c_str());
      if (pid <= 0) continue;
      std::istringstream fields(stat_of(pid));
      char state = 0;
      pid_t parent = 0;
      fields >> state >> parent;
      if (parent == found[i] && state != 'Z') found.push_back(pid);
    }
  }
  found.erase(found.begin());
  return found;
}

std::string LaunchTest::read(const std::string& relative) const { return content(directory_ / relative); }

std::vector<fs::path> LaunchTest::run_directories() const {
  std::vector<fs::path> found;
  const fs::path base = directory_ / ("trainyard-" + std::to_string(::getuid()));
  if (!fs::exists(base)) return found;
  for (const fs::directory_entry& entry : fs::directory_iterator(base)) {
    if (entry.is_directory()) found.push_back(entry.path());
  }
  return found;
}

}  // namespace trainyard::testing
