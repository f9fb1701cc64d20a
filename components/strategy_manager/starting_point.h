// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "components/strategy_manager/run_settings.h"
#include "messages/dataset_info.h"
#include "messages/run_state.h"
#include "messages/saved_state.h"

namespace trainyard::manager {

/// The position at which the run begins, and the state that it takes over from a checkpoint. If set_place() is not
/// called, because there is no checkpoint writer, the run begins at step 0 without any state.
class StartingPoint {
 public:
  void set_place(const RunState& place) { place_ = place; }
  void set_states(const RestoredStates& states) { states_ = states; }

  /// Returns the states of the checkpoint; empty if the run does not resume.
  const RestoredStates& states() const { return states_; }

  /// Returns the position at which the run begins. If the run resumes, its data must be the same as the checkpoint's
  /// data; see check_same_data(). A position that the checkpoint contains in batches is converted to samples.
  ///
  /// Calls `warn` for every difference that RunSettings::may_differ permits. Throws kInvalidArgument for any other
  /// difference.
  RunState checked(const DatasetInfo& data, const RunSettings& settings, const SplitInfo& train,
                   const std::function<void(const std::string&)>& warn) const;

 private:
  void compare_data(const DatasetInfo& data, const RunSettings& settings,
                    const std::function<void(const std::string&)>& warn) const;

  RunState place_;
  RestoredStates states_;
};

}  // namespace trainyard::manager
