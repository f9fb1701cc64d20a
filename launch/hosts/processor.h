// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace trainyard::launch {

/// Returns a text with everything that determines which compute kernels LibTorch, its BLAS library and Trainyard
/// choose: the model of the processor, and those of its instruction sets for which there are kernels. If two processors
/// have different texts, the last bits of sums can differ between them. `cpuinfo` is the content of /proc/cpuinfo, of
/// which only the first processor is considered. `capability` is the value of the variable ATEN_CPU_CAPABILITY, which
/// limits LibTorch's choice, or an empty string if it is not set.
std::string describe_processor(std::string_view cpuinfo, std::string_view capability);

/// Like describe_processor() above, for the processor of this machine and the variables of this process.
std::string describe_processor();

}  // namespace trainyard::launch
