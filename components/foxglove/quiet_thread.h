// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>

namespace trainyard::foxglove {

/// Starts a thread with a low priority, because training comes first. All signals are blocked in the thread, because
/// other threads of the program wait for them.
std::thread quiet_thread(std::function<void()> work);

}  // namespace trainyard::foxglove
