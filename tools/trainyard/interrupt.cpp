// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/interrupt.h"

namespace trainyard::tools {

bool Interrupt::requested() const {
  const timespec at_once = {};
  return ::sigtimedwait(&signals_.set(), nullptr, &at_once) > 0;
}

}  // namespace trainyard::tools
