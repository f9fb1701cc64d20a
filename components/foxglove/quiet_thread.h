// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>

namespace trainyard::foxglove {

/// Starts a thread with a low priority, because training comes first, and to which no signals are sent, because they
/// are for the threads of the program, which wait for them.
std::thread quiet_thread(std::function<void()> work);

}  // namespace trainyard::foxglove
