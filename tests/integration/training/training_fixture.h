// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/integration/launch_fixture.h"

namespace trainyard::testing {

/// One line of metrics_train.csv.
struct TrainedStep {
  std::uint64_t step = 0;
  double time = 0;            ///< The time at which the host reported the step, in seconds since 1970.
  std::uint64_t samples = 0;  ///< The number of samples that all ranks together have used.
  /// The text in the file, which has enough digits that two texts are equal only if the floats are equal.
  std::string loss;
};

/// A fixture that launches a real training run, which is so small that a step takes a fraction of a millisecond: a
/// perceptron that learns from generated data and reports every step. Tests examine the run through the launcher's
/// registry, as other programs do.
class TrainingTest : public LaunchTest {
 protected:
  /// Starts a training run, which practically never ends unless `arguments` set a limit. `more` is appended to the
  /// launch file. The results are in `directory`.
  std::unique_ptr<Command> train(const std::string& directory, std::vector<std::string> arguments,
                                 const std::string& more = "");

  /// Writes the launch file that train() uses, and returns its path.
  std::string training_file(const std::string& directory, const std::string& more);

  /// Trains to the end, checks that the exit code is `code`, and returns the output.
  std::string run_to_end(const std::string& directory, std::vector<std::string> arguments, int code = 0,
                         const std::string& more = "");

  /// Stops a training run as Ctrl-C does, and checks that it has ended cleanly.
  void interrupt(Command& training);

  /// Kills the process of a component, and checks that the run then fails, names the component, and leaves no run
  /// directory.
  void expect_failure_without(const std::string& component, Command& training);

  /// Returns the steps that the logger has written to its file. The logger writes about once a second.
  std::vector<TrainedStep> steps(const std::string& directory) const;

  /// Returns the losses of the first `count` steps, or fewer if fewer steps have been written.
  std::vector<std::string> losses(const std::string& directory, std::size_t count) const;

  /// Returns the values of this metric in all reports of training steps that the logger has written, in their order.
  std::vector<double> logged(const std::string& directory, const std::string& name) const;

  /// Returns the message counters of all processes, by the name of the process. Returns null while the run does not
  /// answer.
  nlohmann::json counters() const;

  /// Returns the counters of the visitors of a topic, added up over all processes: the number of "visitors", and the
  /// messages "sent" and "dropped".
  nlohmann::json visitors(const std::string& topic) const;

  /// Returns the number of messages on a topic that components have sent to each other, without those sent to visitors.
  std::uint64_t sent(const std::string& topic) const;

  /// Returns the registry's description of a component, or null while the run does not answer.
  nlohmann::json node(const std::string& component) const;

  /// Returns the process id of a component or external program, or 0 while the run does not answer.
  pid_t pid_of(const std::string& component) const;

  /// Returns the state of a component or external program according to the registry, or "" while the registry does not
  /// answer.
  std::string state_of(const std::string& component) const;

  /// Starts examples/external_logger, which attaches to the run.
  std::unique_ptr<Command> external_logger();
};

/// Returns true if there is a /usr/bin/python3 with pyzmq, which the example needs.
bool has_pyzmq();

/// Returns the path of examples/external_logger/external_logger.py.
std::string external_logger_path();

/// Returns the median time between consecutive steps, in microseconds, for the steps reported between the times `from`
/// and `until`; 0 if there are none.
double median_step_us(const std::vector<TrainedStep>& steps, double from, double until);

/// Returns the current time by the clock of TrainedStep::time, in seconds since 1970.
double now_s();

}  // namespace trainyard::testing
