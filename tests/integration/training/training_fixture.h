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
  double time = 0;   ///< Seconds since 1970 at which the host reported it.
  std::string loss;  ///< As written, which is exact: two equal texts are two equal floats.
};

/// Launches of a real training, small enough for a step to take a fraction of a millisecond: a perceptron on made-up
/// data that reports every step. What happens around it is looked at through the registry, as any program could.
class TrainingTest : public LaunchTest {
 protected:
  /// Starts the training, practically without end unless `arguments` give one. `more` is appended to its launch file.
  /// Results lie in `directory`.
  std::unique_ptr<Command> train(const std::string& directory, std::vector<std::string> arguments,
                                 const std::string& more = "");

  /// Ends a training that has none, as Ctrl-C does, and checks that it ended in order.
  void interrupt(Command& training);

  /// The steps that the logger has written down so far; it writes about once a second.
  std::vector<TrainedStep> steps(const std::string& directory) const;

  /// The losses of the first `count` steps; fewer if there are not so many.
  std::vector<std::string> losses(const std::string& directory, std::size_t count) const;

  /// What the counters of all processes say, by process. Null while the run cannot be asked.
  nlohmann::json counters() const;

  /// The counters of the visitors of a topic in all processes, added up: "visitors" (how many), "sent", "dropped".
  nlohmann::json visitors(const std::string& topic) const;

  /// How many messages of a topic all planned edges have carried.
  std::uint64_t sent(const std::string& topic) const;

  /// What the registry says of a component; null while the run cannot be asked.
  nlohmann::json node(const std::string& component) const;

  /// The state that the registry says a component or program is in; "" while it cannot be asked.
  std::string state_of(const std::string& component) const;

  /// Starts examples/external_logger beside the run.
  std::unique_ptr<Command> external_logger();
};

/// True if there is a /usr/bin/python3 that has pyzmq, which the example needs.
bool has_pyzmq();

/// Path of examples/external_logger/external_logger.py.
std::string external_logger_path();

/// Median of the times between neighbouring steps, in microseconds, for steps reported between two times; 0 if there
/// are none.
double median_step_us(const std::vector<TrainedStep>& steps, double from, double until);

/// Seconds since 1970, the clock of TrainedStep::time.
double now_s();

}  // namespace trainyard::testing
