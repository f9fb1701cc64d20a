// SPDX-License-Identifier: Apache-2.0
#include "core/transport/examination_limit.h"

#include <algorithm>

namespace trainyard::core {

void ExaminationLimit::earn(Clock::time_point now) {
  const std::chrono::duration<double> passed = now - earned_;
  earned_ = now;
  allowance_ = std::min(allowance_ + per_second_ * passed.count(), at_once_ - static_cast<double>(running_));
}

void ExaminationLimit::begin() {
  ++running_;
  allowance_ -= 1;
}

void ExaminationLimit::end(bool admitted) {
  --running_;
  if (admitted) allowance_ += 1;
}

}  // namespace trainyard::core
