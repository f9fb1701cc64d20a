// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cpu/host.h"

#include <dlfcn.h>
#include <link.h>
#include <malloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <system_error>

#include "messages/error.h"

namespace trainyard::cpu {
namespace {

/// Returns the number of cores that the control group grants, such as "200000 100000" in cpu.max for two, or
/// `unlimited` if it has no limit.
int quota_cores(int unlimited) {
  std::ifstream file("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(file >> quota >> period) || quota == "max" || period <= 0) return unlimited;
  return std::max(1, static_cast<int>(std::ceil(std::strtod(quota.c_str(), nullptr) / period)));
}

/// Returns the real path of a loaded library: Debian's libblas.so.3 is a link to whichever BLAS the administrator
/// chose.
std::string real_path(const char* path) {
  const std::unique_ptr<char, decltype(&std::free)> resolved(realpath(path, nullptr), &std::free);
  return resolved ? resolved.get() : path;
}

/// Collects the paths of libraries that may be a BLAS. It is a callback for dl_iterate_phdr.
int collect_blas(dl_phdr_info* info, std::size_t, void* found) {
  const std::string path = real_path(info->dlpi_name);
  for (const char* name : {"openblas", "libmkl", "libblis", "libblas", "libatlas"}) {
    if (path.find(name) == std::string::npos) continue;
    static_cast<std::vector<std::string>*>(found)->push_back(path);
    break;
  }
  return 0;
}

std::vector<std::string> blas_libraries() {
  std::vector<std::string> found;
  dl_iterate_phdr(&collect_blas, &found);
  return found;
}

/// Returns a function of the loaded OpenBLAS, or null if there is none. Neither the handle nor the library is ever
/// closed.
template <class Function>
Function* openblas_function(const char* name) {
  for (const std::string& path : blas_libraries()) {
    void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    void* symbol = library ? dlsym(library, name) : nullptr;
    if (symbol) return reinterpret_cast<Function*>(symbol);
  }
  return nullptr;
}

std::string openblas_kernels() {
  auto* name = openblas_function<char*()>("openblas_get_corename");
  return name ? name() : "";
}

#if defined(__x86_64__)
bool supports_avx2() { return __builtin_cpu_supports("avx2"); }
bool supports_avx512() { return __builtin_cpu_supports("avx512f"); }
bool supports_bfloat16() { return __builtin_cpu_supports("avx512bf16"); }
#else
bool supports_avx2() { return false; }
bool supports_avx512() { return false; }
bool supports_bfloat16() { return false; }
#endif

/// The user's variable is an upper limit, as it is for OpenBLAS itself.
int allowed_blas_threads(int threads) {
  const char* limit = std::getenv("OPENBLAS_NUM_THREADS");
  const int most = limit ? std::atoi(limit) : 0;
  return most > 0 ? std::min(threads, most) : threads;
}

}  // namespace

int usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  const int online = std::max(1, static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)));
  const int mask = sched_getaffinity(0, sizeof set, &set) == 0 ? std::max(1, CPU_COUNT(&set)) : online;
  return std::min(mask, quota_cores(mask));
}

int automatic_threads(std::uint32_t ranks) {
  const char* wanted = std::getenv("OMP_NUM_THREADS");
  // It may be a list, one number for each level of nesting; the first one counts.
  const int number = wanted != nullptr ? std::atoi(wanted) : 0;
  return number > 0 ? number : std::max(1, usable_cores() / static_cast<int>(ranks));
}

double recent_load() {
  double load = 0;
  return std::ifstream("/proc/loadavg") >> load ? load : 0;
}

void pin_to_cores(const std::vector<int>& cores) {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int core : cores) {
    if (core < 0 || core >= CPU_SETSIZE) {
      throw Error(Code::kInvalidArgument, "cpus: {} is not a core; allowed: 0 to {}", core, CPU_SETSIZE - 1);
    }
    CPU_SET(core, &set);
  }
  if (sched_setaffinity(0, sizeof set, &set) != 0) {
    throw Error(Code::kInvalidArgument, "cpus: the system refuses to run on these cores ({}); {} can be used",
                std::system_category().message(errno), usable_cores());
  }
}

void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // This is the largest value that glibc accepts.
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

Blas loaded_blas() {
  const std::vector<std::string> libraries = blas_libraries();
  // libblas.so.3 may lead to any of them, so the real paths are compared.
  const auto is_fast = [](const std::string& path) {
    return path.find("openblas") != std::string::npos || path.find("mkl") != std::string::npos ||
           path.find("blis") != std::string::npos;
  };
  const auto fast = std::find_if(libraries.begin(), libraries.end(), is_fast);
  if (fast != libraries.end()) return {*fast, false, openblas_kernels()};
  if (libraries.empty()) return {};
  return {libraries.front(), libraries.front().find("atlas") == std::string::npos};
}

std::string better_kernels(const std::string& kernels) {
  // What OpenBLAS takes for an unknown processor of Intel.
  if (kernels != "Prescott" || !supports_avx2()) return "";
  return supports_avx512() ? "SkylakeX" : "Haswell";
}

bool multiplies_bfloat16() { return supports_bfloat16(); }

void set_blas_threads(int threads) {
  if (auto* set = openblas_function<void(int)>("openblas_set_num_threads")) set(allowed_blas_threads(threads));
}

}  // namespace trainyard::cpu
