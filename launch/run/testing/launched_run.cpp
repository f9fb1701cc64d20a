// SPDX-License-Identifier: Apache-2.0
#include "launch/run/testing/launched_run.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>
#include <zmq.hpp>

#include "core/process/start_ticks.h"
#include "launch/run/guard.h"
#include "launch/run/process_tree.h"
#include "launch/run/supervisor.h"
#include "messages/error.h"

// The processes, signals and the guard are real. Only the work inside the processes is simulated.
namespace trainyard::launch::testing {
namespace {

/// Runs the launch in the forked child. Never returns.
[[noreturn]] void launch(const Plan& plan, const LaunchOptions& options, const std::string& output_file) {
  const int file = ::open(output_file.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
  ::dup2(file, STDOUT_FILENO);
  ::dup2(file, STDERR_FILENO);
  int code = 99;
  try {
    code = run_guarded([&](const GuardLink& guard) { return Supervisor(plan, options, guard).run(); });
  } catch (const Error& error) {
    const std::string text = std::string(error.what()) + "\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  }
  ::_exit(code);  // exit() would also run the exit handlers of the test program, of which the child is a copy.
}

}  // namespace

LaunchedRun::LaunchedRun(const Plan& plan, LaunchOptions options)
    : base_(fmt::format("{}/trainyard-{}", folder_.path(), ::geteuid())) {
  if (options.process_program.empty()) options.process_program = TRAINYARD_FAKE_PROCESS;
  options.base = base_;
  guard_ = ::fork();
  if (guard_ == 0) launch(plan, options, folder_.path() + "/output");
}

// The descendants are killed before the guard. Otherwise they would become children of the test program and outlive the
// test.
LaunchedRun::~LaunchedRun() {
  if (guard_ == 0) return;
  for (const pid_t pid : descendants(guard_)) ::kill(pid, SIGKILL);
  ::kill(guard_, SIGKILL);
  ::waitpid(guard_, nullptr, 0);
}

pid_t LaunchedRun::launcher() const {
  eventually([this] { return !visitors::list_runs(base_).empty(); });
  const std::vector<visitors::RunInfo> runs = visitors::list_runs(base_);
  return runs.empty() ? 0 : runs.front().pid;
}

std::string LaunchedRun::output() const {
  std::ostringstream text;
  text << std::ifstream(folder_.path() + "/output").rdbuf();
  return text.str();
}

bool LaunchedRun::prints(const std::string& text) const {
  return eventually([&] { return output().find(text) != std::string::npos; });
}

std::string LaunchedRun::ask(const std::string& question) const {
  const std::vector<visitors::RunInfo> runs = visitors::list_runs(base_);
  if (runs.empty()) return "";
  zmq::context_t context;
  zmq::socket_t socket(context, zmq::socket_type::dealer);
  socket.set(zmq::sockopt::linger, 0);
  socket.set(zmq::sockopt::rcvtimeo, 20'000);
  socket.connect(runs.front().registry);
  socket.send(zmq::buffer(question), zmq::send_flags::none);
  zmq::message_t reply;
  return socket.recv(reply) ? reply.to_string() : "";
}

/// Returns the registry's description of a node, or null if there is none.
nlohmann::json LaunchedRun::describe(const std::string& node) const {
  const auto reply = nlohmann::json::parse(ask(R"({"id": 1, "op": "nodes"})"), nullptr, /*allow_exceptions=*/false);
  if (reply.is_discarded()) return nullptr;
  for (const auto& one : reply.value("result", nlohmann::json::array())) {
    if (one.value("component", "") == node) return one;
  }
  return nullptr;
}

bool LaunchedRun::reaches(const std::string& node, const std::string& state) const {
  return eventually([&] {
    const nlohmann::json found = describe(node);
    return !found.is_null() && found.value("state", "") == state;
  });
}

pid_t LaunchedRun::pid_of(const std::string& node) const {
  const nlohmann::json found = describe(node);
  return found.is_null() ? 0 : found.value("pid", 0);
}

int LaunchedRun::exit_code() {
  int status = 0;
  if (!eventually([&] { return ::waitpid(guard_, &status, WNOHANG) == guard_; })) return -1;
  guard_ = 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool LaunchedRun::directory_is_gone() const {
  return eventually([this] { return !std::filesystem::exists(base_) || std::filesystem::is_empty(base_); });
}

// Sleeps only between two checks of the condition.
bool eventually(const std::function<bool()>& condition, std::chrono::seconds deadline) {
  const auto until = std::chrono::steady_clock::now() + deadline;
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

bool is_gone(pid_t pid) {
  return eventually([pid] { return core::start_ticks(pid) == 0; });
}

// The plan has no edges, because fake processes send each other no messages.
Plan fake_plan(const std::vector<std::string>& fakes) {
  Plan plan;
  plan.file = "fake.toml";
  plan.run = "fake";
  for (std::uint32_t i = 0; i < fakes.size(); ++i) {
    PlannedProcess process;
    process.name = "p" + std::to_string(i);
    process.environment["FAKE"] = fakes[i];
    plan.processes.push_back(process);
    ComponentPlan component;
    component.index = i;
    component.name = "c" + std::to_string(i);
    component.plugin = "fake";
    component.process = process.name;
    component.thread = "main";
    plan.components.push_back(component);
    plan.activation.push_back(i);
  }
  return plan;
}

Plan with_program(Plan plan, const std::string& name, std::vector<std::string> command) {
  PlannedProcess program;
  program.name = name;
  program.command = std::move(command);
  plan.processes.push_back(program);
  return plan;
}

}  // namespace trainyard::launch::testing
