// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "components/accelerator_host/run_position.h"
#include "components/accelerator_host/runner.h"
#include "components/accelerator_host/throughput.h"
#include "core/component/output.h"
#include "core/config/parameter.h"
#include "devices/link_bytes.h"
#include "messages/dataset_info.h"
#include "messages/metrics.h"
#include "messages/order.h"

namespace trainyard::host {

/// The outcome of a training step, for Reporter::report_step().
struct StepOutcome {
  std::vector<at::Tensor> losses;  ///< The losses of the micro-batches that had samples, still on the device.
  std::uint64_t samples = 0;
  StepResult result;
  bool updated = false;  ///< True if the optimizer made an update.
  /// The learning rate of the update, if there was one.
  double learning_rate = 0;
};

/// Sends the metrics of training steps and evaluations, and measures the speed of training. In a run with a single
/// rank, it sends Metrics to the logger. Otherwise it sends RankMetrics to the strategy manager (the component that
/// directs the run), which merges the metrics of all ranks.
class Reporter {
 public:
  struct Outputs {
    Output<Metrics>& alone;
    Output<RankMetrics>& one_of_several;
  };
  Reporter(Runner& runner, const RunPosition& position, Outputs outputs, const ComponentContext& context,
           const Parameter<bool>& device_stats);

  /// Sets the unit in which throughput is measured, such as "token", and the number of units in each sample.
  void count_in(const std::string& unit, std::uint64_t units_per_sample);

  /// Called when the rank is ready to train. Begins to count the bytes that are copied between host and device.
  void begin_counting();

  /// These functions record that training continues, that a batch of `samples` samples has been used, and that training
  /// is interrupted. Interruptions do not count as training time.
  void training() { throughput_.resume(Throughput::Clock::now()); }
  void trained_on(std::uint64_t samples) { throughput_.add(samples * units_per_sample_); }
  void not_training() { throughput_.pause(Throughput::Clock::now()); }

  /// Sends the metrics of a step of the order `order`. Waits for the device, because it reads the losses and measures
  /// the time.
  void report_step(const Order& order, const StepOutcome& step);

  /// Sends the metrics of an evaluation. `done` is the answer to the order `order`, and contains the metrics.
  void report_evaluation(const Order& order, const OrderDone& done);

  /// Stops all reporting. Called when the run is ending.
  void mute() { muted_ = true; }

 private:
  std::vector<Scalar> values_of(const StepOutcome& step);
  void add_link_bytes(std::vector<Scalar>& values);
  void send(const Order& order, const std::string& stage, RankMetrics said);

  Runner& runner_;
  const RunPosition& position_;
  Outputs outputs_;
  const Parameter<bool>& device_stats_;
  std::uint32_t rank_;
  std::uint32_t world_size_;
  std::string unit_;
  std::uint64_t units_per_sample_ = 1;
  /// The state at the most recent report, or when counting began: the number of bytes copied between host and device
  /// for each purpose, and the step number.
  std::array<std::uint64_t, devices::kPurposes> link_bytes_{};
  std::uint64_t link_step_ = 0;
  Throughput throughput_;  ///< Measures the speed since the most recent report of a step.
  bool muted_ = false;
};

}  // namespace trainyard::host
