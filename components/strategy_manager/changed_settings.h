// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "messages/setting.h"

namespace trainyard::manager {

/// The parameters that were changed during the run, as checkpoints record them. There is one entry for each parameter,
/// and none for one that has again the value of the launch file.
class ChangedSettings {
 public:
  /// Adds what a resumed run had changed before.
  void resume(const std::vector<Setting>& settings);

  /// Records a change.
  void change(const Setting& changed);

  /// Returns the entries in the order of the first changes.
  const std::vector<Setting>& all() const { return all_; }

 private:
  std::vector<Setting> all_;
};

}  // namespace trainyard::manager
