#pragma once

#include <optional>

#include "tensors/autocast.h"
#include "tensors/rank_generator.h"

namespace trainyard {

/// What has to be kept while a forward pass runs: autocast, if the run has it, and the rank's turn at random numbers,
/// if the pass may draw some. Nothing of another rank may be waited for meanwhile.
class ForwardScope {
 public:
  /// `type`: what is computed in under autocast; none: no autocast. `generator` may be null.
  ForwardScope(at::DeviceType device, std::optional<at::ScalarType> type, RankGenerator* generator) {
    if (generator != nullptr) turn_.emplace(*generator);
    if (type) autocast_.emplace(device, *type);
  }

 private:
  std::optional<RankGenerator::Turn> turn_;
  std::optional<Autocast> autocast_;
};

}  // namespace trainyard
