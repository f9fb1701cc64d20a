// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::tools {

/// The verdict of a check.
enum class Verdict {
  kFact,     ///< Information that cannot be good or bad, such as a version.
  kGood,     ///< No problem was found.
  kWarning,  ///< Trainyard works, but may be slow or fail later.
  kBad,      ///< Trainyard cannot work in this state.
};

/// The result of one check of `trainyard doctor`.
struct SystemCheck {
  Verdict verdict = Verdict::kFact;
  std::string name;
  std::string finding;
  std::string advice;  ///< What the user should do; empty if nothing needs to be done.
};

/// Performs all checks and returns their results in the order in which they are shown. Does not throw: if a check
/// fails, its result states why.
std::vector<SystemCheck> check_system();

/// Judges the BLAS library at a path such as /usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3. The verdict for
/// Reference BLAS is kWarning, because a matrix product takes about thirty times as long with it.
SystemCheck judge_blas(const std::string& resolved_path);

/// Judges whether enough cores are free for the threads that compute. `load` is the average number of runnable threads
/// during the last minute; `wait_policy` is the value of the environment variable OMP_WAIT_POLICY, or empty.
SystemCheck judge_threads(unsigned cores, double load, const std::string& wait_policy);

/// Judges the soft and the hard limit on the number of open files. Trainyard needs many, because each process opens
/// files for sockets and shared memory.
SystemCheck judge_open_files(std::uint64_t soft, std::uint64_t hard);

/// Judges whether enough memory is free for shared blocks. The arguments are the total and the free memory of the
/// machine, or of the container if its limit is lower.
SystemCheck judge_shared_memory(std::uint64_t total_bytes, std::uint64_t free_bytes);

}  // namespace trainyard::tools
