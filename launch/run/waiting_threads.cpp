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
  // Each of these says how threads of OpenMP wait: the standard's variable, that of gcc and that of clang and Intel.
  constexpr std::array kOpenMp{"OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME"};
  bool is_chosen = false;
  for (const char* name : kOpenMp) is_chosen = is_chosen || is_given(environment, name);
  if (!is_chosen) {
    environment["GOMP_SPINCOUNT"] = "1000";  // Rounds, of some hundred cycles at most.
    environment["KMP_BLOCKTIME"] = "0";      // Milliseconds.
  }
  // The power of two that gives the cycles; the default of OpenBLAS is 26.
  if (!is_given(environment, "OPENBLAS_THREAD_TIMEOUT")) environment["OPENBLAS_THREAD_TIMEOUT"] = "16";
}

}  // namespace trainyard::launch
