// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "components/strategy_manager/run_settings.h"
#include "messages/dataset_info.h"
#include "messages/run_state.h"
#include "messages/saved_state.h"

namespace trainyard::manager {

/// The point at which the run begins, and the state from a checkpoint. Without a checkpoint writer neither is
/// announced, and the run begins at step 0 without state.
class StartingPoint {
 public:
  void set_place(const RunState& place) { place_ = place; }
  void set_states(const RestoredStates& states) { states_ = states; }

  /// Returns the states of the checkpoint; empty if the run does not resume.
  const RestoredStates& states() const { return states_; }

  /// Returns where the run begins. If the run resumes, its data must be the same as in the checkpoint: a position
  /// refers to the same samples only if the data and their order are the same, and the outputs of a model mean the same
  /// only with the same vocabulary. If the checkpoint contains the position in batches, it is converted to samples.
  ///
  /// Calls `warn` for every difference that the settings allow. Throws kInvalidArgument for any other difference.
  RunState checked(const DatasetInfo& data, const RunSettings& settings, const SplitInfo& train,
                   const std::function<void(const std::string&)>& warn) const;

 private:
  void compare_data(const DatasetInfo& data, const RunSettings& settings,
                    const std::function<void(const std::string&)>& warn) const;

  RunState place_;
  RestoredStates states_;
};

}  // namespace trainyard::manager
