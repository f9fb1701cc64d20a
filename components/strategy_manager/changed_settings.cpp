// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/changed_settings.h"

#include <algorithm>

namespace trainyard::manager {

void ChangedSettings::resume(const std::vector<Setting>& settings) {
  all_.insert(all_.end(), settings.begin(), settings.end());
}

void ChangedSettings::change(const Setting& changed) {
  const auto known = std::ranges::find_if(all_, [&](const Setting& one) {
    return one.component == changed.component && one.parameter == changed.parameter;
  });
  // The first change of a parameter contains the value in the launch file; later changes only replace the current
  // value.
  if (known == all_.end()) {
    all_.push_back(changed);
  } else {
    known->value = changed.value;
  }
  std::erase_if(all_, [](const Setting& one) { return one.value == one.instead_of; });
}

}  // namespace trainyard::manager
