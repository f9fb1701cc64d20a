// SPDX-License-Identifier: Apache-2.0
#include "launch/run/waiting_threads.h"

#include <array>
#include <cstdlib>

namespace trainyard::launch {
namespace {

using Environment = std::map<std::string, std::string>;

bool is_given(const Environment& environment, const char* name) {
  return environment.contains(name) || std::getenv(name) != nullptr;
}

}  // namespace

void let_waiting_threads_sleep(Environment& environment) {
  // Each of these variables specifies how threads of OpenMP wait: the first is that of the standard, the second that of
  // gcc, and the third that of clang and Intel.
  constexpr std::array kOpenMp{"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};
  bool is_chosen = false;
  for (const char* name : kOpenMp) is_chosen = is_chosen || is_given(environment, name);
  if (!is_chosen) {
    // The number of iterations, each of which takes a few hundred cycles at most.
    environment["GOMP_SPINCOUNT"] = "1000";
    environment["KMP_BLOCKTIME"] = "0";  // In milliseconds.
  }
  // The number of cycles is 2 to this power. The default of OpenBLAS is 26.
  if (!is_given(environment, "OPENBLAS_THREAD_TIMEOUT")) environment["OPENBLAS_THREAD_TIMEOUT"] = "16";
}

}  // namespace trainyard::launch
