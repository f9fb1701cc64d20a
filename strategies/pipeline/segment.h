// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/model.h"
#include "strategies/pipeline/placement.h"
#include "strategies/pipeline/stage_link.h"
#include "strategies/step_trace.h"
#include "strategies/world.h"

namespace trainyard::pipeline {

/// The stages (layers or groups of layers) of the model that this rank of a pipeline computes, with the connections to
/// the previous and the next rank.
class Segment {
 public:
  /// `placement` determines which stages of `model` this rank has. Received tensors are stored on `device`. `trace` may
  /// be null.
  Segment(Model& model, Placement placement, World& world, at::Device device, StepTrace* trace);

  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(placement_.stages.size() - 1); }
  bool is_first() const { return rank() == 0; }
  bool is_last() const { return rank() + 1 == ranks(); }
  const Placement& placement() const { return placement_; }
  /// Returns all stages of the model, including the stages of other ranks.
  const std::vector<Stage>& stages() const { return stages_; }

  /// Returns the input of this rank's first stage. On the first rank, this is the input in `batch`. Every other rank
  /// waits until the previous rank has sent it.
  at::Tensor input_of(const ModelBatch& batch);
  /// Computes this rank's stages one after another, beginning with the input `values`. Returns the output of the last
  /// one.
  at::Tensor run(at::Tensor values) const;
  /// Starts to send the output of this rank to the next rank. `batch` is the batch from which the output was computed.
  void send_output(const at::Tensor& output, const ModelBatch& batch);
  /// Waits until the next rank has sent the gradient of this rank's output for `batch`, and returns the gradient.
  at::Tensor gradient_of_output(const ModelBatch& batch);
  /// Sends the gradient of the input for `batch` to the previous rank. `next` is the batch whose input this rank needs
  /// next, or null. The function first begins to receive that input; otherwise two neighbouring ranks could each wait
  /// for the other to receive.
  void send_gradient(const at::Tensor& gradient, const ModelBatch& batch, const ModelBatch* next);

  /// Waits until all outputs and gradients have been sent.
  void flush();

  /// Returns, on all ranks, the `numbers` that the last rank has passed to this function. All ranks must call this
  /// function with the same number of values.
  at::Tensor numbers_of_last(std::vector<double> numbers) const;

  /// Returns a text for log and error messages: "stages 'embedding' to 'block1'".
  std::string text() const;

 private:
  Model& model_;
  World& world_;
  StepTrace* trace_;
  std::uint32_t rank_;
  Placement placement_;
  std::vector<Stage> stages_;
  std::optional<StageLink> previous_;
  std::optional<StageLink> next_;
};

}  // namespace trainyard::pipeline
