// SPDX-License-Identifier: Apache-2.0
#include "launch/run/process_tree.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>

namespace trainyard::launch {

// Descendants are found in /proc, because programs start other programs, all of which remain when the launcher dies.
// Reading /proc is not atomic, so a process that one pass does not find can exist nevertheless.

namespace {

/// Returns the fields of /proc/<pid>/stat after the command name, "S 1 2 ..."; empty if the process is gone. The name
/// is in parentheses and may contain anything, even parentheses, so this searches for the last one.
std::string fields_after_name(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text, '\0');
  const std::size_t end = text.rfind(')');
  return end == std::string::npos ? std::string() : text.substr(end + 1);
}

/// Returns the number after `key` in /proc/<pid>/<file>, whose lines have the form "key: number", or 0 if there is
/// none.
std::uint64_t number_in(pid_t pid, const char* file, const std::string& key) {
  std::ifstream stream("/proc/" + std::to_string(pid) + "/" + file);
  std::uint64_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(key + ":")) std::istringstream(line.substr(key.size() + 1)) >> number;
  }
  return number;
}

/// Reads the parents of all processes from /proc, in one pass. Processes that start or end meanwhile may be missed, so
/// callers repeat this.
std::multimap<pid_t, pid_t> children_by_parent() {
  std::multimap<pid_t, pid_t> children;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", ignored)) {
    const std::string name = entry.path().filename();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    // The name is not a number, so this is not the folder of a process.
    if (error != std::errc() || end != name.data() + name.size()) continue;
    std::istringstream fields(fields_after_name(pid));
    std::string state;
    pid_t parent = 0;
    if (fields >> state >> parent) children.emplace(parent, pid);
  }
  return children;
}

}  // namespace

char state_of(pid_t pid) {
  std::istringstream fields(fields_after_name(pid));
  char state = 0;
  fields >> state;
  return state;
}

bool is_traced(pid_t pid) { return number_in(pid, "status", "TracerPid") != 0; }

std::uint64_t disk_bytes(pid_t pid) { return number_in(pid, "io", "read_bytes") + number_in(pid, "io", "write_bytes"); }

// Repeats until no new process is found. This ends, because a process that is stopped starts no other processes.
std::vector<pid_t> stop_descendants() {
  std::vector<pid_t> stopped;
  std::set<pid_t> seen;
  for (bool found = true; found;) {
    found = false;
    for (const pid_t pid : descendants(::getpid())) {
      if (!seen.insert(pid).second) continue;
      found = true;
      const char state = state_of(pid);
      if (state != 'T' && state != 'Z' && ::kill(pid, SIGSTOP) == 0) stopped.push_back(pid);
    }
  }
  return stopped;
}

std::vector<pid_t> descendants(pid_t root) {
  const std::multimap<pid_t, pid_t> children = children_by_parent();
  // This is a breadth-first search, in which the list of results is also the queue.
  std::vector<pid_t> found = {root};
  for (std::size_t i = 0; i < found.size(); ++i) {
    const auto [begin, end] = children.equal_range(found[i]);
    for (auto child = begin; child != end; ++child) found.push_back(child->second);
  }
  found.erase(found.begin());
  return found;
}

std::size_t kill_descendants(std::chrono::milliseconds deadline) {
  const auto until = std::chrono::steady_clock::now() + deadline;
  std::size_t reaped = 0;
  while (std::chrono::steady_clock::now() < until) {
    for (const pid_t pid : descendants(::getpid())) ::kill(pid, SIGKILL);
    pid_t child = 0;
    while ((child = ::waitpid(-1, nullptr, WNOHANG)) > 0) ++reaped;
    if (child < 0) break;  // The error is ECHILD: no child is left.
    // It takes a moment until a killed process can be reaped.
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return reaped;
}

}  // namespace trainyard::launch
