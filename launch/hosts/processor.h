// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trainyard::launch {

/// Returns what decides which kernels LibTorch, its BLAS and Trainyard choose on a processor: its model, and those of
/// its instruction sets for which there are kernels. On processors with different texts, sums can have different last
/// bits. `cpuinfo` is the content of /proc/cpuinfo; of several processors, the first counts. `capability` is the value
/// of ATEN_CPU_CAPABILITY, which limits LibTorch's choice; empty if the variable is not set.
std::string describe_processor(std::string_view cpuinfo, std::string_view capability);

/// Returns the same for this machine.
std::string describe_processor();

}  // namespace trainyard::launch
