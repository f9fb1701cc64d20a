// SPDX-License-Identifier: Apache-2.0
#include "core/process/plan_view.h"

#include <algorithm>

namespace trainyard::core {

std::string PlanView::address_of(const std::string& thread) const {
  const auto given = plan_.bind.find(thread);
  if (given != plan_.bind.end()) return given->second;
  std::string file = process_ + "." + thread;
  std::ranges::replace(file, '/', '~');
  return "ipc://" + plan_.run_directory + "/" + file;
}

}  // namespace trainyard::core
