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

/// Collects the messages that other components send before the run begins: DatasetInfo from every data loader,
/// ModelInfo from every accelerator host (which is then ready), and RunState, with the position at which the run
/// begins. Calls `begin` once, when all of them have arrived.
class Announcements {
 public:
  /// Inputs of the strategy manager. The numbers of their connections determine which messages are expected, and
  /// whether the run writes checkpoints.
  struct Inputs {
    const InputBase& dataset;
    const InputBase& run_state;
    const InputBase& checkpoints;
  };

  Announcements(const Inputs& inputs, std::uint32_t ranks, std::function<void()> begin);

  /// These functions record a message.
  void add(const DatasetInfo& info);
  void add(const ModelInfo& info) { hosts_ready_.arrived(info.rank); }
  void add(const RunState& place);
  /// Keeps the states that were read from the checkpoint from which the run resumes. Must be called before the RunState
  /// is added.
  void add(const RestoredStates& states) { start_.set_states(states); }

  /// Returns a description of the messages that are still missing, for error texts.
  std::string missing() const { return complete_.missing(); }

  /// Returns the facts about the run. Must be called only when all messages have arrived.
  RunFacts facts() const;
  /// Returns the position at which the run begins, after comparing the data with that of the checkpoint; see
  /// StartingPoint::checked(). Throws what check_same_data_on_ranks() throws if the ranks have different data. Must be
  /// called only when all messages have arrived.
  RunState checked_start(const RunSettings& settings, const std::function<void(const std::string&)>& warn) const;
  /// Returns the states in the checkpoint; empty if the run does not resume.
  const RestoredStates& restored() const { return start_.states(); }

 private:
  Inputs inputs_;
  RunFacts facts_;
  DatasetInfo data_;                       ///< The first DatasetInfo that has arrived.
  std::optional<DatasetInfo> other_data_;  ///< The last message whose data differs from `data_`, if any.
  std::size_t datasets_ = 0;               ///< The number of data loaders that have sent their message.
  StartingPoint start_;

  Gate complete_;
  Gate::Need data_known_;
  Gate::Need hosts_ready_;
  Gate::Need start_known_;
};

}  // namespace trainyard::manager
