// SPDX-License-Identifier: Apache-2.0
#include "core/activity/account.h"

namespace trainyard::core {
// The search is linear, because a component waits for few others. When only the last entry is left, it becomes the
// entry for WaitKind::kOthers.
void Account::add_wait(WaitCause cause, std::int64_t ns) {
  std::uint64_t wanted = cause.packed();
  std::uint32_t place = 0;
  const std::uint32_t known = causes_.get();
  while (place < known && waits_[place].cause.get() != wanted) ++place;
  if (place == known) {
    if (place == kMostCauses - 1) wanted = WaitCause{WaitKind::kOthers}.packed();
    if (place == kMostCauses) {
      --place;
    } else {
      waits_[place].cause.set(wanted);
      waits_[place].ns.set(0);
      causes_.set(known + 1);
    }
  }
  waits_[place].ns.add(ns);
}

void Account::reset(std::int64_t now) {
  busy_.set(0);
  messages_.set(0);
  causes_.set(0);
  last_end.set(now);
  loop_ran = 0;
}

Totals Account::totals() const {
  Totals totals{.component = component_, .busy_ns = busy_.get(), .messages = messages_.get(), .waiting = {}};
  const std::uint32_t known = causes_.get();
  for (std::uint32_t i = 0; i < known; ++i) {
    totals.waiting.push_back({WaitCause::unpacked(waits_[i].cause.get()), waits_[i].ns.get()});
  }
  return totals;
}

}  // namespace trainyard::core
