// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/testing/command_fixture.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <sstream>

#include "launch/plan/child_output.h"

namespace trainyard::tools::testing {

int CommandOnFakeRun::command(std::vector<std::string> arguments) {
  ::setenv("XDG_RUNTIME_DIR", run_.runtime_directory().c_str(), 1);
  arguments.insert(arguments.begin(), TRAINYARD_COMMAND);
  const launch::ChildOutput output = launch::run_child(arguments, std::chrono::seconds(60));
  out_ = output.text;
  err_ = output.errors;
  return WIFEXITED(output.status) ? WEXITSTATUS(output.status) : -1;
}

std::vector<nlohmann::json> CommandOnFakeRun::json_lines() const {
  std::vector<nlohmann::json> lines;
  std::istringstream text(out_);
  for (std::string line; std::getline(text, line);) {
    const nlohmann::json value = nlohmann::json::parse(line, nullptr, false);
    lines.push_back(value.is_discarded() ? nlohmann::json() : value);
  }
  return lines;
}

StartedCommand::StartedCommand(const std::string& runtime_directory, std::vector<std::string> arguments) {
  ::setenv("XDG_RUNTIME_DIR", runtime_directory.c_str(), 1);
  arguments.insert(arguments.begin(), TRAINYARD_COMMAND);
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  std::array<int, 2> pipe = {};
  if (::pipe(pipe.data()) != 0) return;
  pid_ = ::fork();
  if (pid_ == 0) {
    ::dup2(pipe[1], STDOUT_FILENO);
    ::close(pipe[0]);
    ::close(pipe[1]);
    ::execv(TRAINYARD_COMMAND, words.data());
    ::_exit(127);
  }
  ::close(pipe[1]);
  output_ = ::fdopen(pipe[0], "r");
}

StartedCommand::~StartedCommand() {
  if (pid_ > 0) end_with(SIGKILL);
  if (output_ != nullptr) std::fclose(output_);
}

std::string StartedCommand::line() {
  std::string text;
  for (int c = std::fgetc(output_); c != EOF && c != '\n'; c = std::fgetc(output_)) text += static_cast<char>(c);
  return text;
}

int StartedCommand::end_with(int signal) {
  int status = 0;
  ::kill(pid_, signal);
  ::waitpid(std::exchange(pid_, 0), &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace trainyard::tools::testing
