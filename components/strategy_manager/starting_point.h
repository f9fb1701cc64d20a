// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "components/strategy_manager/run_settings.h"
#include "messages/dataset_info.h"
#include "messages/run_state.h"
#include "messages/saved_state.h"

namespace trainyard::manager {

/// The position at which the run begins, and the states in the checkpoint from which it resumes. If set_place() is not
/// called, because there is no checkpoint writer, the run begins at step 0 without states.
class StartingPoint {
 public:
  void set_place(const RunState& place) { place_ = place; }
  void set_states(const RestoredStates& states) { states_ = states; }

  /// Returns the states in the checkpoint; empty if the run does not resume.
  const RestoredStates& states() const { return states_; }

  /// Returns the position at which the run begins. If the run resumes, compares its data with that of the checkpoint;
  /// see check_same_data(). If an old checkpoint counts the position in batches, converts it to samples with the batch
  /// size in `train`.
  ///
  /// Calls `warn` for every difference that RunSettings::may_differ permits, and if the checkpoint contains no
  /// description of its data. Throws kInvalidArgument for any other difference.
  RunState checked(const DatasetInfo& data, const RunSettings& settings, const SplitInfo& train,
                   const std::function<void(const std::string&)>& warn) const;

 private:
  void compare_data(const DatasetInfo& data, const RunSettings& settings,
                    const std::function<void(const std::string&)>& warn) const;

  RunState place_;
  RestoredStates states_;
};

}  // namespace trainyard::manager
