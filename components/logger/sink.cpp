// SPDX-License-Identifier: Apache-2.0
#include "components/logger/sink.h"

#include <chrono>

namespace trainyard {

std::int64_t realtime_ns() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}

}  // namespace trainyard
