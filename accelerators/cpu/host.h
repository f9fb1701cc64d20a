#pragma once

#include <string>
#include <vector>

namespace trainyard {

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

/// Lets OpenBLAS use AVX-512 on a processor that has it but that OpenBLAS is too old to know: 0.3.21 takes the newer
/// AMD ones for their elders and multiplies at half speed. Returns the name of the kernels then in use, empty if
/// nothing was changed. Not while another thread multiplies. OPENBLAS_CORETYPE, if set, is left to decide.
std::string prefer_wide_blas_kernels();

/// Sets the threads of OpenBLAS, if that is loaded; LibTorch does not. OPENBLAS_NUM_THREADS is an upper limit.
void set_blas_threads(int threads);

}  // namespace trainyard
