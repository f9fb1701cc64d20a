#pragma once

#include <string>
#include <vector>

namespace trainyard::cpu {

/// Cores that this process may use: its affinity mask, and no more than the quota of its control group (rounded up).
int usable_cores();

/// Restricts the calling thread, and threads it starts later, to `cores`. Throws kInvalidArgument with the system's
/// words.
void pin_to_cores(const std::vector<int>& cores);

/// Keeps freed memory in the process: a step frees and takes the same tensors again, and giving their pages back in
/// between costs a small GPT 11 % of its time.
void keep_freed_memory();

/// The BLAS library that LibTorch has loaded.
struct Blas {
  std::string path;        ///< Empty if it is linked into LibTorch.
  bool reference = false;  ///< The plain reference implementation: correct, and tens of times slower.
};
Blas loaded_blas();

/// Sets the threads of OpenBLAS, if that is loaded; LibTorch does not. OPENBLAS_NUM_THREADS is an upper limit.
void set_blas_threads(int threads);

}  // namespace trainyard::cpu
