// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::cpu {

/// Returns the number of cores that this process may use: the number of cores in its affinity mask, or the CPU quota of
/// its control group, rounded up, if that is less.
int usable_cores();

/// Returns the number of threads with which one rank computes if the launch file does not specify it: the value of
/// OMP_NUM_THREADS if the user has set this variable, otherwise an equal share of the usable cores, at least 1. `ranks`
/// is the number of ranks on this host.
int automatic_threads(std::uint32_t ranks);

/// Returns the average number of threads of this host that were running or ready to run during the last minute, or 0 if
/// the system does not report it.
double recent_load();

/// A warning is logged if recent_load() divided by the number of cores is at least this value, because other programs
/// then slow down ranks that use all cores.
constexpr double kCrowded = 0.75;

/// Restricts the calling thread, and the threads that it starts later, to `cores`. Throws kInvalidArgument, with the
/// system's error message, if that fails.
void pin_to_cores(const std::vector<int>& cores);

/// Makes malloc keep freed memory in the process instead of returning it to the operating system. Every step frees and
/// allocates the same tensors; returning their memory in between would cost 11 % of the training time of a small GPT
/// model.
void keep_freed_memory();

/// The BLAS library that LibTorch has loaded.
struct Blas {
  std::string path;  ///< Empty if the library is linked into LibTorch.
  /// True for the reference implementation, which is correct but tens of times slower than other libraries.
  bool reference = false;
  /// The kernels that OpenBLAS uses, named after the processor for which they were written, such as "SkylakeX". Empty
  /// for other libraries.
  std::string kernels = {};
};
Blas loaded_blas();

/// Returns the kernels that OpenBLAS should use instead of `kernels` (Blas::kernels), as a value of OPENBLAS_CORETYPE,
/// or an empty string if nothing better is known. An OpenBLAS that is older than the processor may mistake the
/// processor for one from 2004.
std::string better_kernels(const std::string& kernels);

/// Returns true if the processor has instructions that multiply bfloat16 numbers: AVX512-BF16, which every processor
/// with AMX also has.
bool multiplies_bfloat16();

/// Sets the number of threads of OpenBLAS, if it is loaded, because LibTorch does not set it. If OPENBLAS_NUM_THREADS
/// is set, its value is an upper limit.
void set_blas_threads(int threads);

}  // namespace trainyard::cpu
