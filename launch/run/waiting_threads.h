// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace trainyard::launch {

/// Adds what keeps the waiting threads of kernels from spinning for long, unless `environment` or the launcher's own
/// environment says how they shall wait.
///
/// By default a thread of OpenMP that waits for the next kernel spins for milliseconds. It keeps a core that the other
/// threads of the same kernel, BLAS, other ranks or other programs need; where there are fewer cores than threads, a
/// step took up to 25 times as long. A short spin serves kernels that follow each other at once just as well.
void let_waiting_threads_sleep(std::map<std::string, std::string>& environment);

}  // namespace trainyard::launch
