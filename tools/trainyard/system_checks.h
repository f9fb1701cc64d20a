#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trainyard::tools {

/// How a finding is to be taken.
enum class Verdict {
  kFact,     ///< Neither good nor bad: a version.
  kGood,     ///< As it should be.
  kWarning,  ///< Works, but slowly or not for long.
  kBad,      ///< Trainyard cannot work like this.
};

/// One thing that `trainyard doctor` has looked at.
struct SystemCheck {
  Verdict verdict = Verdict::kFact;
  std::string name;
  std::string finding;
  std::string advice;  ///< What to do about it; empty if nothing is to be done.
};

/// Looks at everything, in the order in which it is shown. Throws nothing: what cannot be looked at is a finding. The
/// judges below are apart from the looking, so that they can be tested with made-up findings.
std::vector<SystemCheck> check_system();

/// Which BLAS a path like /usr/lib/x86_64-linux-gnu/openblas-pthread/libblas.so.3 stands for. Reference BLAS is a
/// warning: a matrix product takes some thirty times as long with it.
SystemCheck judge_blas(const std::string& resolved_path);

/// Open files: each process needs some for sockets and shared memory.
SystemCheck judge_open_files(std::uint64_t soft, std::uint64_t hard);

/// Bytes of memory, and those of them that shared blocks can still take.
SystemCheck judge_shared_memory(std::uint64_t total_bytes, std::uint64_t free_bytes);

}  // namespace trainyard::tools
