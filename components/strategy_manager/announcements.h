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

/// Collects what the other components announce before the run begins: the data, that the hosts are ready, and where the
/// run begins. When everything is known, it calls `begin` once, and nothing changes any more.
class Announcements {
 public:
  /// The inputs of the strategy manager that say who announces anything.
  struct Inputs {
    const InputBase& dataset;
    const InputBase& run_state;
    const InputBase& checkpoints;
  };

  Announcements(const Inputs& inputs, std::uint32_t ranks, std::function<void()> begin);

  /// Record what a component has announced.
  void add(const DatasetInfo& info);
  void add(const ModelInfo& info) { hosts_ready_.arrived(info.rank); }
  void add(const RunState& place);
  /// Takes the state of the checkpoint that the run resumes. It comes before the RunState.
  void add(const RestoredStates& states) { start_.set_states(states); }

  /// Describes what has not been announced yet, for errors.
  std::string missing() const { return complete_.missing(); }

  /// Returns what is known about the run. Valid only when everything is.
  RunFacts facts() const;
  /// Returns where the run begins; see StartingPoint::checked.
  RunState checked_start(const RunSettings& settings, const std::function<void(const std::string&)>& warn) const {
    return start_.checked(data_, settings, facts_.train, warn);
  }
  /// Returns the states of the checkpoint; empty if the run does not resume.
  const RestoredStates& restored() const { return start_.states(); }

 private:
  Inputs inputs_;
  RunFacts facts_;
  DatasetInfo data_;          ///< What the first loader has said.
  std::size_t datasets_ = 0;  ///< The number of loaders that have sent their dataset.
  StartingPoint start_;

  Gate complete_;
  // The loader of rank 0 stands for those of the other ranks, unless the launch file connects them as well.
  Gate::Need data_known_;
  Gate::Need hosts_ready_;
  Gate::Need start_known_;
};

}  // namespace trainyard::manager
