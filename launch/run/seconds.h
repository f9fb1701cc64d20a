// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace trainyard::launch {

/// Returns a duration as a number of seconds, for texts.
template <class Rep, class Period>
double in_seconds(std::chrono::duration<Rep, Period> duration) {
  return std::chrono::duration<double>(duration).count();
}

}  // namespace trainyard::launch
