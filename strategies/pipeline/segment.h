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

/// The stages of a model that this rank has, with the links to the previous and the next rank.
class Segment {
 public:
  /// Takes the stages of `model` that `placement` gives to this rank.
  Segment(Model& model, Placement placement, World& world, at::Device device, StepTrace* trace);

  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(placement_.stages.size() - 1); }
  bool is_first() const { return rank() == 0; }
  bool is_last() const { return rank() + 1 == ranks(); }
  const Placement& placement() const { return placement_; }
  /// Returns all stages of the model, including the stages of other ranks.
  const std::vector<Stage>& stages() const { return stages_; }

  /// Returns the input of this rank's first stage. The first rank makes it from the batch. Every other rank waits until
  /// the previous rank has sent it.
  at::Tensor input_of(const ModelBatch& batch);
  /// Runs the input through the stages of this rank and returns the output.
  at::Tensor run(at::Tensor values) const;
  /// Starts to send the output of this rank to the next rank.
  void send_output(const at::Tensor& output, const ModelBatch& batch);
  /// Waits until the next rank has sent the gradient of an output, and returns this gradient.
  at::Tensor gradient_of_output(const ModelBatch& batch);
  /// Sends the gradient of an input to the previous rank. `next` is the batch whose input this rank needs next, or null
  /// if there is none. That input is requested first; otherwise two neighbouring ranks could each wait for the other to
  /// receive what it sends.
  void send_gradient(const at::Tensor& gradient, const ModelBatch& batch, const ModelBatch* next);

  /// Waits until everything has been sent.
  void flush();

  /// Returns, on all ranks, the `numbers` of the last rank. All ranks must pass the same count of numbers.
  at::Tensor numbers_of_last(std::vector<double> numbers) const;

  /// Returns the names of this rank's stages for messages: "stages 'embedding' to 'block1'".
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
