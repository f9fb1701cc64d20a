// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace trainyard::launch {

/// Adds variables to `environment` that prevent waiting threads of OpenMP and OpenBLAS from spinning for long. No
/// variable is added for a library if `environment` or the launcher's own environment already specifies how its threads
/// wait.
///
/// By default, an OpenMP thread that waits for the next kernel spins for milliseconds. It occupies a core that other
/// threads of the same kernel, BLAS, other ranks or other programs need. On machines with fewer cores than threads,
/// steps have taken up to 25 times as long. For kernels that follow each other immediately, a short spin is sufficient.
void let_waiting_threads_sleep(std::map<std::string, std::string>& environment);

}  // namespace trainyard::launch
