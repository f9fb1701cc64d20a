// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "messages/setting.h"

namespace trainyard::manager {

/// The parameters that were changed during the run, as checkpoints record them. There is one entry for each such
/// parameter, but none for a parameter that has its value from the launch file again.
class ChangedSettings {
 public:
  /// Adds the changes that the resumed checkpoint contains.
  void resume(const std::vector<Setting>& settings);

  /// Records a change.
  void change(const Setting& changed);

  /// Returns the entries in the order of the first changes.
  const std::vector<Setting>& all() const { return all_; }

 private:
  std::vector<Setting> all_;
};

}  // namespace trainyard::manager
