// SPDX-License-Identifier: Apache-2.0
#include "tests/integration/training/training_fixture.h"

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <sstream>
#include <zmq.hpp>

#include "messages/error.h"
#include "visitors/registry_client.h"
#include "visitors/run_info.h"

namespace trainyard::testing {

using nlohmann::json;

namespace {

/// Noise and wrong labels keep the losses from becoming so small that they are all equal.
constexpr const char* kTraining = R"(
include = [")" TRAINYARD_SOURCES R"(/launch/files/standard.toml"]
[run]
name = "training"
max_steps = 1_000_000_000
validate_every_epochs = 0
[component.data_loader.params]
dataset = { plugin = "synthetic", features = 32, classes = 10, samples = 10_000, noise = 4.0 }
batch_size = 16
[component.accelerator_host.params]
accelerator = { plugin = "cpu", threads = "1" }
model = { plugin = "mlp", hidden = [16] }
log_every_steps = 1
[component.logger.params]
console = "off"
tensorboard = false
)";

std::vector<std::string> cells(const std::string& line) {
  std::vector<std::string> found;
  std::istringstream text(line);
  for (std::string cell; std::getline(text, cell, ',');) found.push_back(cell);
  return found;
}

/// Asks the registry of the newest run. Returns null if there is no run, or if it does not answer.
json ask(const std::function<json(visitors::RegistryClient&)>& question) {
  try {
    const std::vector<visitors::RunInfo> runs = visitors::list_runs();
    if (runs.empty()) return nullptr;
    zmq::context_t context;
    visitors::RegistryClient registry(context, runs.front().registry);
    return question(registry);
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

std::string TrainingTest::training_file(const std::string& directory, const std::string& more) {
  return file(kTraining + more, directory + ".toml");
}

std::unique_ptr<Command> TrainingTest::train(const std::string& directory, std::vector<std::string> arguments,
                                             const std::string& more) {
  arguments.push_back("run.directory=" + directory);
  return launch(training_file(directory, more), std::move(arguments));
}

std::string TrainingTest::run_to_end(const std::string& directory, std::vector<std::string> arguments, int code,
                                     const std::string& more) {
  const auto training = train(directory, std::move(arguments), more);
  EXPECT_EQ(training->wait(), code) << training->all();
  return training->all();
}

void TrainingTest::interrupt(Command& training) {
  ::kill(-training.pid(), SIGINT);
  EXPECT_EQ(training.wait(), 130) << training.all();
  EXPECT_TRUE(run_directories().empty()) << "nothing of the run is left";
}

void TrainingTest::expect_failure_without(const std::string& component, Command& training) {
  const pid_t pid = pid_of(component);
  ASSERT_GT(pid, 1);
  ::kill(pid, SIGKILL);
  EXPECT_EQ(training.wait(), 1) << training.all();
  EXPECT_NE(training.all().find("'" + component + "'"), std::string::npos) << training.all();
  EXPECT_TRUE(run_directories().empty());
}

std::vector<TrainedStep> TrainingTest::steps(const std::string& directory) const {
  std::istringstream table(read(directory + "/metrics_train.csv"));
  std::string line;
  std::getline(table, line);
  const std::vector<std::string> header = cells(line);
  const auto column = [&header](const char* name) {
    return static_cast<std::size_t>(std::ranges::find(header, name) - header.begin());
  };
  const std::size_t step = column("step"), time = column("time"), samples = column("samples"), loss = column("loss");
  std::vector<TrainedStep> found;
  while (std::getline(table, line) && !table.eof()) {  // A line without its end is still being written.
    const std::vector<std::string> row = cells(line);
    if (row.size() != header.size()) continue;
    found.push_back({std::stoull(row.at(step)), std::stod(row.at(time)), std::stoull(row.at(samples)), row.at(loss)});
  }
  return found;
}

std::vector<std::string> TrainingTest::losses(const std::string& directory, std::size_t count) const {
  std::vector<std::string> all;
  for (const TrainedStep& step : steps(directory)) {
    if (all.size() == count) break;
    EXPECT_EQ(step.step, all.size() + 1) << "every step is in the table, in order";
    all.push_back(step.loss);
  }
  return all;
}

std::vector<double> TrainingTest::logged(const std::string& directory, const std::string& name) const {
  std::vector<double> found;
  std::istringstream lines(read(directory + "/metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const json record = json::parse(line);
    if (record.value("kind", "") != "metrics" || record.value("stage", "") != "train") continue;
    const json& values = record.at("values");
    if (values.contains(name)) found.push_back(values.at(name));
  }
  return found;
}

json TrainingTest::counters() const {
  return ask([](visitors::RegistryClient& registry) { return registry.call("", "counters"); });
}

json TrainingTest::visitors(const std::string& topic) const {
  std::uint64_t count = 0, sent = 0, dropped = 0;
  const json processes = counters();
  for (const json& process : processes) {
    for (const json& visitor : process.value("visitors", json::array())) {
      if (visitor.at("topic") != topic) continue;
      ++count;
      sent += visitor.at("sent").get<std::uint64_t>();
      dropped += visitor.at("dropped").get<std::uint64_t>();
    }
  }
  return {{"visitors", count}, {"sent", sent}, {"dropped", dropped}};
}

std::uint64_t TrainingTest::sent(const std::string& topic) const {
  std::uint64_t total = 0;
  const json processes = counters();
  for (const json& process : processes) {
    for (const json& edge : process.value("edges", json::array())) {
      if (edge.at("topic") == topic) total += edge.at("sent").get<std::uint64_t>();
    }
  }
  return total;
}

json TrainingTest::node(const std::string& component) const {
  const json nodes = ask([](visitors::RegistryClient& registry) { return registry.ask("nodes"); });
  for (const json& node : nodes) {
    if (node.at("component") == component) return node;
  }
  return nullptr;
}

pid_t TrainingTest::pid_of(const std::string& component) const {
  const json found = node(component);
  return found.is_null() ? 0 : found.value("pid", 0);
}

std::string TrainingTest::state_of(const std::string& component) const {
  const json found = node(component);
  return found.is_null() ? "" : found.value("state", "");
}

std::unique_ptr<Command> TrainingTest::external_logger() {
  ::unsetenv("TRAINYARD_RUN_DIRECTORY");  // Otherwise the logger would use that run instead of the newest one.
  return std::make_unique<Command>(std::vector<std::string>{"/usr/bin/python3", "-B", external_logger_path()},
                                   directory_);
}

bool has_pyzmq() { return std::system("/usr/bin/python3 -c 'import zmq' >/dev/null 2>&1") == 0; }

std::string external_logger_path() { return TRAINYARD_SOURCES "/examples/external_logger/external_logger.py"; }

double median_step_us(const std::vector<TrainedStep>& steps, double from, double until) {
  std::vector<double> gaps;
  for (std::size_t i = 1; i < steps.size(); ++i) {
    if (steps[i - 1].time >= from && steps[i].time <= until) gaps.push_back(steps[i].time - steps[i - 1].time);
  }
  if (gaps.empty()) return 0;
  std::ranges::nth_element(gaps, gaps.begin() + static_cast<std::ptrdiff_t>(gaps.size() / 2));
  return gaps[gaps.size() / 2] * 1e6;
}

double now_s() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

}  // namespace trainyard::testing
