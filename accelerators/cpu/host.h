// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace trainyard::cpu {

/// Returns the number of cores that this process may use: those of its affinity mask, but no more than the quota of its
/// control group, rounded up.
int usable_cores();

/// Restricts the calling thread, and the threads that it starts later, to `cores`. Throws kInvalidArgument with the
/// system's error text.
void pin_to_cores(const std::vector<int>& cores);

/// Keeps freed memory in the process. Every step frees and allocates the same tensors; returning their pages to the
/// system in between would cost a small GPT 11 % of its time.
void keep_freed_memory();

/// The BLAS library that LibTorch has loaded.
struct Blas {
  std::string path;        ///< Empty if the library is linked into LibTorch.
  bool reference = false;  ///< It is the reference implementation: correct, and tens of times slower than others.
};
Blas loaded_blas();

/// Sets the number of threads of OpenBLAS if it is loaded, which LibTorch does not do. OPENBLAS_NUM_THREADS is an upper
/// limit.
void set_blas_threads(int threads);

}  // namespace trainyard::cpu
