// SPDX-License-Identifier: Apache-2.0
#include "strategies/pipeline/schedule.h"

#include <algorithm>

namespace trainyard::pipeline {

std::vector<Action> gpipe(std::size_t micro_batches) {
  std::vector<Action> actions;
  for (std::size_t i = 0; i < micro_batches; ++i) actions.push_back({Action::kForward, i});
  for (std::size_t i = 0; i < micro_batches; ++i) actions.push_back({Action::kBackward, i});
  return actions;
}

std::vector<Action> one_forward_one_backward(std::size_t micro_batches, std::uint32_t rank, std::uint32_t ranks) {
  const std::size_t warm_up = std::min<std::size_t>(micro_batches, ranks - rank - 1);
  std::vector<Action> actions;
  for (std::size_t i = 0; i < warm_up; ++i) actions.push_back({Action::kForward, i});
  for (std::size_t i = 0; i < micro_batches; ++i) {
    if (warm_up + i < micro_batches) actions.push_back({Action::kForward, warm_up + i});
    actions.push_back({Action::kBackward, i});
  }
  return actions;
}

}  // namespace trainyard::pipeline
