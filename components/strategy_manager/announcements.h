// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
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

/// The announcements that the other components make before the run begins: the data, the readiness of the accelerator
/// hosts, and the position at which the run begins. When all of them have arrived, `begin` is called once.
class Announcements {
 public:
  /// The inputs of the strategy manager, whose connections determine which announcements are expected.
  struct Inputs {
    const InputBase& dataset;
    const InputBase& run_state;
    const InputBase& checkpoints;
  };

  Announcements(const Inputs& inputs, std::uint32_t ranks, std::function<void()> begin);

  /// Record the announcement of a component.
  void add(const DatasetInfo& info);
  void add(const ModelInfo& info) { hosts_ready_.arrived(info.rank); }
  void add(const RunState& place);
  /// Records the state of the checkpoint that the run resumes. Must be called before the RunState is added.
  void add(const RestoredStates& states) { start_.set_states(states); }

  /// Returns a description of the announcements that are missing, for errors.
  std::string missing() const { return complete_.missing(); }

  /// Returns the facts about the run. Must be called only when all announcements have arrived.
  RunFacts facts() const;
  /// Returns the position at which the run begins; see StartingPoint::checked(). Throws if the ranks have different
  /// data; see check_same_data_on_ranks().
  RunState checked_start(const RunSettings& settings, const std::function<void(const std::string&)>& warn) const;
  /// Returns the states of the checkpoint; empty if the run does not resume.
  const RestoredStates& restored() const { return start_.states(); }

 private:
  Inputs inputs_;
  RunFacts facts_;
  DatasetInfo data_;                       ///< The message of the first loader.
  std::optional<DatasetInfo> other_data_;  ///< The message of a loader that has other data than the first one.
  std::size_t datasets_ = 0;               ///< The number of loaders that have sent their dataset.
  StartingPoint start_;

  Gate complete_;
  Gate::Need data_known_;
  Gate::Need hosts_ready_;
  Gate::Need start_known_;
};

}  // namespace trainyard::manager
