// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>

#include "components/accelerator_host/run_position.h"
#include "components/accelerator_host/runner.h"
#include "core/component/output.h"
#include "core/config/parameter.h"
#include "messages/batch.h"
#include "messages/histogram.h"

namespace trainyard::host {

/// Sends histograms of activations, gradients and weights. It measures every step whose number is a multiple of
/// `every_steps` (no step if that is 0): the activations before the step, the gradients as the optimizer uses them, and
/// the weights after the update.
///
///     begin_step --> activations --> look_at_gradients --> gradients --> end_step --> weights, message
///
/// In other steps, the report costs almost no time. If every rank has all parameters, only rank 0 measures; otherwise
/// each rank measures the gradients and weights of its own part. Only rank 0 measures activations.
class HistogramReport {
 public:
  HistogramReport(Runner& runner, const RunPosition& position, Output<Histograms>& output,
                  const ComponentContext& context, const Parameter<std::int64_t>& every_steps);

  /// Called before step `step`. `batch` is the first micro-batch of the step, for which activations are computed. If
  /// the previous step has not ended, its histograms are discarded.
  void begin_step(std::uint64_t step, const Batch& batch);

  /// Returns the function that measures the gradients of the current step, for Runner::end_step(). The function is
  /// empty if the step is not measured.
  std::function<void(const StepResult&)> look_at_gradients();

  /// Called at the end of a step that has not been skipped, after its update. If the step is measured, measures the
  /// weights and sends all histograms.
  void end_step();

  /// Stops all reporting. Called when the run is ending.
  void mute() { muted_ = true; }

 private:
  bool due(std::uint64_t step) const;
  /// Adds one histogram for each tensor in `own`, the rank's part of a flat block. If the rank has only a part of a
  /// tensor, the histogram covers this part. Values are multiplied by `factor`.
  void add_block(const at::Tensor& own, HistogramOf of, double factor);
  void add(const std::string& name, HistogramOf of, const at::Tensor& values, double factor);

  Runner& runner_;
  const RunPosition& position_;
  Output<Histograms>& output_;
  const ComponentContext& context_;
  const Parameter<std::int64_t>& every_steps_;
  Histograms message_;
  /// How often add() has been called in this step for the current kind (activations, gradients or weights).
  std::uint64_t of_kind_ = 0;
  bool measuring_ = false;
  bool muted_ = false;
};

}  // namespace trainyard::host
