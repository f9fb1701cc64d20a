// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>

#include "messages/words.h"

namespace trainyard {

/// The relation between the gradients of the ranks at the end of a step. This relation determines which facts about
/// their gradients the ranks must exchange, such as norms and overflows.
enum class GradientsOfRanks : std::uint8_t {
  kEqual,        ///< Every rank has the same gradients.
  kParts,        ///< Every rank has a different part of one set of gradients.
  kOwn,          ///< Every rank has its own gradients, but if one rank skips a step, all ranks do.
  kIndependent,  ///< Every rank has its own gradients and decides alone which steps to skip.
};
constexpr auto words_of(GradientsOfRanks) {
  return words("relation of gradients", "equal", "parts", "own", "independent");
}

/// What the ranks of a strategy must share. This determines whether they may be in different processes and on different
/// hosts.
enum class RanksShare : std::uint8_t {
  kNothing,  ///< The ranks may be on several hosts.
  kMemory,   ///< The ranks use the same memory, so they must be on one host.
  kProcess,  ///< The ranks must be threads of one process.
};
constexpr auto words_of(RanksShare) { return words("thing that ranks share", "nothing", "memory", "process"); }

/// The properties of a strategy that must be known before anything is started. They are used by the planner, which
/// makes the plan of a run from a launch file, and by the accelerator host, which computes the gradients.
struct StrategyTraits {
  static constexpr const char* kTypeName = "StrategyTraits";
  static constexpr const char* kPluginKind = "strategy";

  std::uint32_t min_ranks = 1;              ///< The minimum number of ranks.
  std::uint32_t max_ranks = 0;              ///< The maximum number of ranks; 0 means any number.
  RanksShare share = RanksShare::kNothing;  ///< What the ranks must share. A plan in which they cannot is refused.
  bool same_data = false;  ///< True if every rank gets the same batches instead of its own part of the data.
  GradientsOfRanks gradients = GradientsOfRanks::kEqual;
  /// True if the ranks share one copy of the parameters in host memory. The optimizer must then update the parameters
  /// there, even if the ranks train on devices.
  bool updates_on_host = false;

  /// Returns true if the strategy supports this number of ranks.
  bool serves(std::uint32_t ranks) const { return min_ranks <= ranks && (max_ranks == 0 || ranks <= max_ranks); }

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(min_ranks), CEREAL_NVP(max_ranks), CEREAL_NVP(share), CEREAL_NVP(same_data),
            CEREAL_NVP(gradients), CEREAL_NVP(updates_on_host));
  }
};

}  // namespace trainyard
