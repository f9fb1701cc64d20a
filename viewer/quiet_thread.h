// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>

namespace trainyard::viewer {

/// Starts a thread in which all signals are blocked, so that they are delivered to those threads of the program that
/// wait for them.
std::thread quiet_thread(std::function<void()> work);

}  // namespace trainyard::viewer
