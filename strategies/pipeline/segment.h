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

/// The stages of a model that this rank has, with the links to the ranks before and behind it.
class Segment {
 public:
  /// Takes the stages of `model` that `placement` gives to this rank.
  Segment(Model& model, Placement placement, World& world, at::Device device, StepTrace* trace);

  std::uint32_t rank() const { return rank_; }
  std::uint32_t ranks() const { return static_cast<std::uint32_t>(placement_.stages.size() - 1); }
  bool is_first() const { return rank() == 0; }
  bool is_last() const { return rank() + 1 == ranks(); }
  const Placement& placement() const { return placement_; }
  /// Returns all stages of the model, whatever their ranks.
  const std::vector<Stage>& stages() const { return stages_; }

  /// Returns the input of this rank's first stage. The first rank makes it from the batch; every other rank waits until
  /// the rank before has sent it.
  at::Tensor input_of(const ModelBatch& batch);
  at::Tensor run(at::Tensor values) const;
  void send_output(const at::Tensor& output, const ModelBatch& batch);
  /// Waits until the rank behind has sent the gradient of an output, and returns it.
  at::Tensor gradient_of_output(const ModelBatch& batch);
  /// Sends the gradient of an input to the rank before. `next` is the batch whose input will be needed next, or null if
  /// none is. That input is requested first; otherwise two neighbours could each wait for the other to take what it
  /// sends.
  void send_gradient(const at::Tensor& gradient, const ModelBatch& batch, const ModelBatch* next);

  /// Waits until everything has been sent.
  void flush();

  /// Returns the `numbers` of the last rank, on all ranks.
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
