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

/// The sender of histograms. A step whose number is a multiple of `every_steps` is measured: the activations before the
/// step, the gradients as the optimizer gets them, and the weights after the update.
///
///     begin_step --> activations --> look_at_gradients --> gradients --> end_step --> weights, message
///
/// A step that is not measured costs one comparison.
class HistogramReport {
 public:
  HistogramReport(Runner& runner, const RunPosition& position, Output<Histograms>& output,
                  const ComponentContext& context, const Parameter<std::int64_t>& every_steps);

  /// Begins step `step` with its first micro-batch. A step that was begun before and has not ended is forgotten.
  void begin_step(std::uint64_t step, const Batch& batch);

  /// Returns the function that measures the gradients of the current step (Runner::end_step); it is empty if the step
  /// is not measured.
  std::function<void(const StepResult&)> look_at_gradients();

  /// Ends a step that has not been skipped: measures the weights and sends the message, if the step is measured.
  void end_step();

  /// Stops all reporting. Called when the run is ending.
  void mute() { muted_ = true; }

 private:
  bool due(std::uint64_t step) const;
  /// Adds histograms of all tensors, or of the parts of them that belong to this rank, in the flat block `own`.
  void add_block(const at::Tensor& own, HistogramOf of, double factor);
  void add(const std::string& name, HistogramOf of, const at::Tensor& values, double factor);

  Runner& runner_;
  const RunPosition& position_;
  Output<Histograms>& output_;
  const ComponentContext& context_;
  const Parameter<std::int64_t>& every_steps_;
  Histograms message_;
  std::uint64_t of_kind_ = 0;  ///< The number of histograms of the kind that is being measured.
  bool measuring_ = false;
  bool muted_ = false;
};

}  // namespace trainyard::host
