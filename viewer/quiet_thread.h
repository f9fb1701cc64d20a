// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>

namespace trainyard::viewer {

/// Starts a thread in which all signals are blocked, because other threads of the program wait for them.
std::thread quiet_thread(std::function<void()> work);

}  // namespace trainyard::viewer
