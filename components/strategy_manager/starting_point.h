// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "components/strategy_manager/run_settings.h"
#include "messages/dataset_info.h"
#include "messages/run_state.h"
#include "messages/saved_state.h"

namespace trainyard::manager {

/// Where the run begins, and the state that it takes over from a checkpoint. Without a checkpoint writer nobody says
/// so, and the run begins at step 0 without any state.
class StartingPoint {
 public:
  void set_place(const RunState& place) { place_ = place; }
  void set_states(const RestoredStates& states) { states_ = states; }

  /// Returns the states of the checkpoint; empty if the run does not resume.
  const RestoredStates& states() const { return states_; }

  /// Returns where the run begins. If it resumes, its data must be that of the checkpoint, because a position means the
  /// same samples only in the same order of the same data, and the numbers that a model gives mean the same only with
  /// the same vocabulary. A position that the checkpoint gives in batches is returned in samples.
  ///
  /// Calls `warn` for every difference that the settings accept. Throws kInvalidArgument for the others.
  RunState checked(const DatasetInfo& data, const RunSettings& settings, const SplitInfo& train,
                   const std::function<void(const std::string&)>& warn) const;

 private:
  void compare_data(const DatasetInfo& data, const RunSettings& settings,
                    const std::function<void(const std::string&)>& warn) const;

  RunState place_;
  RestoredStates states_;
};

}  // namespace trainyard::manager
