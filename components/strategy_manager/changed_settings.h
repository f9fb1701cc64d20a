// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "messages/setting.h"

namespace trainyard::manager {

/// Keeps a list of the parameters that users have changed during the run, so that checkpoints can contain it. There is
/// one entry for each parameter whose value differs from the launch file.
class ChangedSettings {
 public:
  /// Adds the changes in the checkpoint from which the run resumes.
  void resume(const std::vector<Setting>& settings);

  /// Records a change.
  void change(const Setting& changed);

  /// Returns the entries, in the order in which the parameters were first changed.
  const std::vector<Setting>& all() const { return all_; }

 private:
  std::vector<Setting> all_;
};

}  // namespace trainyard::manager
