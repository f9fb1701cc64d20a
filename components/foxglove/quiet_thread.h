// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>

namespace trainyard::foxglove {

/// Starts a thread that runs `work` with a low priority, so that it does not slow training down. Blocks all signals in
/// the thread, because other threads of the program handle them.
std::thread quiet_thread(std::function<void()> work);

}  // namespace trainyard::foxglove
