// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace trainyard::cuda_device {

/// Calls `done` until it returns true. Returns false if `limit` passes first, and otherwise true. The thread sleeps
/// between the calls, a little longer each time up to 0.2 ms, so that waiting costs little.
template <class Done>
bool poll_until(const Done& done, std::chrono::milliseconds limit) {
  using std::chrono::microseconds;
  const auto deadline = std::chrono::steady_clock::now() + limit;
  for (microseconds pause{10}; !done(); pause = std::min(2 * pause, microseconds{200})) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

}  // namespace trainyard::cuda_device
