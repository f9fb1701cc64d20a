// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "components/strategy_manager/run_facts.h"
#include "components/strategy_manager/run_settings.h"
#include "components/strategy_manager/starting_point.h"
#include "core/component/gate.h"
#include "core/component/input.h"
#include "messages/arena.h"
#include "messages/dataset_info.h"
#include "messages/run_state.h"

namespace trainyard::manager {

/// The announcements of the other components before the run begins: the data, the readiness of the hosts, and the point
/// at which the run begins. When all have arrived, `begin` is called once.
class Announcements {
 public:
  /// The strategy manager's inputs for announcements. Their numbers of connections determine which announcements will
  /// arrive.
  struct Inputs {
    const InputBase& dataset;
    const InputBase& run_state;
    const InputBase& checkpoints;
  };

  Announcements(const Inputs& inputs, std::uint32_t ranks, std::function<void()> begin);

  /// Record an announcement.
  void add(const DatasetInfo& info);
  void add(const ModelInfo& info) { hosts_ready_.arrived(info.rank); }
  void add(const RunState& place);
  /// Records the state of the checkpoint that the run resumes. This message arrives before the RunState.
  void add(const RestoredStates& states) { start_.set_states(states); }

  /// Returns a description of the announcements that are missing, for errors.
  std::string missing() const { return complete_.missing(); }

  /// Returns the facts about the run. Valid only when every announcement has arrived.
  RunFacts facts() const;
  /// Returns the position at which the run begins; see StartingPoint::checked().
  RunState checked_start(const RunSettings& settings, const std::function<void(const std::string&)>& warn) const {
    return start_.checked(data_, settings, facts_.train, warn);
  }
  /// Returns the states of the checkpoint; empty if the run does not resume.
  const RestoredStates& restored() const { return start_.states(); }

 private:
  Inputs inputs_;
  RunFacts facts_;
  DatasetInfo data_;          ///< The dataset that the first loader announced.
  std::size_t datasets_ = 0;  ///< The number of loaders that have sent their dataset.
  StartingPoint start_;

  Gate complete_;
  // The loader of rank 0 represents the loaders of the other ranks, unless the launch file connects those, too.
  Gate::Need data_known_;
  Gate::Need hosts_ready_;
  Gate::Need start_known_;
};

}  // namespace trainyard::manager
