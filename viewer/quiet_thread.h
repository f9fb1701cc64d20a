// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <thread>

namespace trainyard::viewer {

/// Starts a thread to which no signals are sent: they are for the threads of the program, which wait for them.
std::thread quiet_thread(std::function<void()> work);

}  // namespace trainyard::viewer
