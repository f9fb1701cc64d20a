// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "checkpoints/testing/files.h"
#include "core/component/component.h"
#include "messages/arena.h"
#include "messages/run_state.h"

namespace trainyard::testing {

using checkpoints::testing::error_of;
using checkpoints::testing::flip_byte;
using checkpoints::testing::floats;
using checkpoints::testing::read_file;
using checkpoints::testing::TemporaryDirectory;
using checkpoints::testing::write_file;

/// Returns the description and the memory of a model with two parameters (2 x 3 at byte 0, 2 at byte 64), gradients,
/// and one buffer of int64. The values of the parameters depend on `first`.
inline ArenaInfo small_arena(float first = 1) {
  std::vector<float> parameters(32, 0);
  for (int i = 0; i < 6; ++i) parameters[static_cast<std::size_t>(i)] = first + static_cast<float>(i);
  parameters[16] = 10 * first;
  parameters[17] = 20 * first;
  Tensor buffers = Tensor::empty(DType::kInt64, {1});
  buffers.as<std::int64_t>()[0] = 7;
  return {.model = "mlp",
          .blocks = {{"gradients", floats(std::vector<float>(32, 9))},
                     {"parameters", floats(parameters)},
                     {"buffers", buffers}},
          .entries = {{.name = "weight", .block = "parameters", .shape = {2, 3}, .offset_bytes = 0},
                      {.name = "bias", .block = "parameters", .shape = {2}, .offset_bytes = 64},
                      {.name = "steps", .block = "buffers", .dtype = 4, .shape = {}, .offset_bytes = 0}}};
}

/// Returns the state of an optimizer with two blocks: `exp_avg`, which is laid out like the parameters, and `counter`,
/// which is not. All elements of `exp_avg` have the value `value`.
inline OptimizerState small_state(float value = 0.5f) {
  return {.rule = "adamw",
          .blocks = {{"exp_avg", floats(std::vector<float>(32, value))}, {"counter", floats({3})}},
          .hyperparameters = {{"beta1", 0.9}}};
}

/// Returns a snapshot in which every field is set, so that a test notices a field that is lost.
inline Snapshot snapshot_at(std::uint64_t step, double loss = 1) {
  return {.order = step + 100,
          .step = step,
          .epoch = 2,
          .samples = step * 12,
          .reason = "interval",
          .cursor = {.epoch = 2, .samples = 5},
          .skipped_steps = 3,
          .metrics = {{"loss", loss}},
          .states = {
              {.owner = "random_numbers", .per_rank = true, .values = "", .tensors = {{"generator", floats({1, 2})}}},
              {.owner = "early_stopping", .values = R"({"best":0.5})", .tensors = {}}}};
}

/// Makes a checkpoint writer behave as if no component of the run had state. In a test, the fixture (Rig) is connected
/// to every input, so the checkpoint writer would otherwise wait for an answer.
inline void without_stateful_components(Component& writer) {
  for (InputBase* input : writer.inputs()) {
    if (input->name() == "states" || input->name() == "states_taken") input->set_connections(0);
  }
}

}  // namespace trainyard::testing
