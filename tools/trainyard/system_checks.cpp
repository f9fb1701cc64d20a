// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/system_checks.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <zmq.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "core/plugin/loader.h"
#include "launch/run/process_program.h"
#include "launch/run/run_directory.h"
#include "messages/error.h"
#include "tools/trainyard/environment_checks.h"
#include "tools/trainyard/versions.h"

namespace trainyard::tools {

// The checks do not change anything on the machine.

namespace {

namespace fs = std::filesystem;

/// Checks the BLAS library that LibTorch will use for matrix products.
SystemCheck check_blas() {
  // The library is loaded in the same way as by a plugin, so that Debian's alternatives, rpaths and LD_LIBRARY_PATH
  // take effect.
  void* library = ::dlopen("libblas.so.3", RTLD_LAZY | RTLD_LOCAL);
  void* symbol = library != nullptr ? ::dlsym(library, "sgemm_") : nullptr;
  Dl_info info = {};
  if (symbol == nullptr || ::dladdr(symbol, &info) == 0) {
    return {Verdict::kWarning, "BLAS", "libblas.so.3 cannot be loaded", "sudo apt-get install libopenblas0-pthread"};
  }
  return judge_blas(fs::weakly_canonical(info.dli_fname).string());
}

/// Returns a number of bytes from a control group, such as the limit of a container; empty if there is no limit.
std::optional<std::uint64_t> cgroup_bytes(const char* name) {
  std::ifstream file(std::string("/sys/fs/cgroup/") + name);
  std::uint64_t bytes = 0;
  if (file >> bytes) return bytes;
  return {};
}

/// Checks whether there is enough memory for shared blocks. They are not files in /dev/shm, so only the size of the
/// memory and the limit of a container matter.
SystemCheck check_shared_memory() {
  std::ifstream file("/proc/meminfo");
  std::uint64_t total = 0, available = 0, kib = 0;
  std::string unit;
  for (std::string name; file >> name >> kib; std::getline(file, unit)) {
    if (name == "MemTotal:") total = kib << 10;
    if (name == "MemAvailable:") available = kib << 10;
  }
  if (const auto limit = cgroup_bytes("memory.max")) {
    total = std::min(total, *limit);
    available = std::min(available, *limit - std::min(*limit, cgroup_bytes("memory.current").value_or(0)));
  }
  return judge_shared_memory(total, available);
}

/// Checks that another process can open shared memory through /proc, which containers and hidepid can forbid.
SystemCheck check_memfd() {
  // The test makes the same system calls as shared memory does, with a small file.
  const int file = ::memfd_create("trainyard-doctor", MFD_CLOEXEC);
  if (file < 0) return {Verdict::kBad, "memfd", std::strerror(errno), "allow the system call memfd_create"};
  const std::string path = fmt::format("/proc/{}/fd/{}", ::getpid(), file);
  const bool readable = ::access(path.c_str(), R_OK) == 0;
  ::close(file);
  if (!readable) return {Verdict::kBad, "memfd", path + " cannot be opened", "mount /proc without hidepid"};
  return {Verdict::kGood, "memfd", "shared memory by handle works", ""};
}

/// Reports the environment variables that determine the number of threads. Trainyard respects these settings of the
/// user.
SystemCheck check_thread_variables() {
  std::string set;
  for (const char* name : {"OMP_NUM_THREADS", "OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "OPENBLAS_NUM_THREADS",
                           "MKL_NUM_THREADS", "OPENBLAS_CORETYPE"}) {
    const char* value = std::getenv(name);
    if (value != nullptr) set += fmt::format("{}{}={}", set.empty() ? "" : " ", name, value);
  }
  return {Verdict::kFact, "variables", set.empty() ? "none is set that concerns threads" : set, ""};
}

SystemCheck check_threads() {
  double load = 0;
  std::ifstream("/proc/loadavg") >> load;
  const char* policy = std::getenv("OMP_WAIT_POLICY");
  return judge_threads(std::thread::hardware_concurrency(), load, policy != nullptr ? policy : "");
}

SystemCheck check_open_files() {
  rlimit limit = {};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return judge_open_files(limit.rlim_cur, limit.rlim_max);
}

/// Checks the folder with the run directories, with the same checks of ownership as a launch.
SystemCheck check_runs_directory() {
  const std::string directory = visitors::runs_directory();
  try {
    const std::size_t running = visitors::list_runs(directory).size();
    return {Verdict::kGood, "run directory", fmt::format("{} ({} running)", directory, running), ""};
  } catch (const Error& error) {
    return {Verdict::kBad, "run directory", error.what(), ""};
  }
}

/// Checks that the program trainyard-process is installed. A command that was copied without it cannot launch anything.
SystemCheck check_process_program() {
  try {
    return {Verdict::kGood, "process", launch::find_process_program(), ""};
  } catch (const Error& error) {
    return {Verdict::kBad, "process", error.what(), ""};
  }
}

/// Adds a check of the plugins. It only reads the labels in their files, and loads no plugin.
void add_plugins(std::vector<SystemCheck>& checks) {
  const core::PluginLoader loader(core::PluginLoader::default_directories());
  for (const std::string& directory : loader.directories()) {
    std::error_code ignored;
    const bool there = fs::is_directory(directory, ignored);
    checks.push_back({there ? Verdict::kFact : Verdict::kWarning, "plugin folder",
                      directory + (there ? "" : ": no such folder"), there ? "" : "mend TRAINYARD_PLUGIN_PATH"});
  }
  const std::vector<core::PluginLoader::Found> found = loader.list();
  std::size_t strangers = 0;
  // Plugins that were built with other versions would be refused by a launch, so they are already reported here.
  for (const core::PluginLoader::Found& plugin : found) strangers += !abi_matches(plugin.label.abi_tag, host_abi_tag());
  SystemCheck check{Verdict::kGood, "plugins", fmt::format("{} found", found.size()), ""};
  if (found.empty()) check = {Verdict::kBad, "plugins", "none found", "set TRAINYARD_PLUGIN_PATH, or build them"};
  if (strangers != 0) {
    check.verdict = Verdict::kWarning;
    check.finding += fmt::format(", {} of another ABI tag", strangers);
    check.advice = "rebuild them; `trainyard plugin info NAME` shows both tags";
  }
  checks.push_back(check);
}

std::string zmq_version_text() {
  int major = 0, minor = 0, patch = 0;
  zmq_version(&major, &minor, &patch);
  return fmt::format("{}.{}.{}", major, minor, patch);
}

std::string system_text() {
  utsname name = {};
  ::uname(&name);
  return fmt::format("{} {} {}, {} cores", name.sysname, name.release, name.machine,
                     std::thread::hardware_concurrency());
}

}  // namespace

SystemCheck judge_blas(const std::string& resolved_path) {
  // The path must be resolved, because Debian's alternatives hide the library behind links.
  for (const char* fast : {"openblas", "mkl", "blis", "atlas"}) {
    if (resolved_path.find(fast) != std::string::npos) return {Verdict::kGood, "BLAS", resolved_path, ""};
  }
  return {Verdict::kWarning, "BLAS", resolved_path + " (reference BLAS: some thirty times slower)",
          "sudo apt-get install libopenblas0-pthread"};
}

SystemCheck judge_threads(unsigned cores, double load, const std::string& wait_policy) {
  constexpr double kCrowded = 0.75;  // As a fraction of the cores.
  const std::string finding = fmt::format("{} cores, {:.1f} busy during the last minute", cores, load);
  if (load < kCrowded * cores) return {Verdict::kGood, "threads", finding, ""};
  std::string policy = wait_policy;
  std::ranges::transform(policy, policy.begin(), [](unsigned char c) { return std::tolower(c); });
  if (policy == "active") {
    return {Verdict::kWarning, "threads", finding + ", and OMP_WAIT_POLICY=active lets waiting threads keep a core",
            "unset OMP_WAIT_POLICY"};
  }
  return {Verdict::kWarning, "threads", finding + ": a kernel waits for the slowest of its threads",
          "OMP_NUM_THREADS=1, or accelerator = {plugin = \"cpu\", threads = \"1\"}"};
}

SystemCheck judge_open_files(std::uint64_t soft, std::uint64_t hard) {
  constexpr std::uint64_t kComfortable = 1024;
  const std::string finding = fmt::format("{} (at most {})", soft, hard);
  if (soft >= kComfortable) return {Verdict::kGood, "open files", finding, ""};
  return {Verdict::kWarning, "open files", finding, fmt::format("ulimit -n {}", std::min(kComfortable, hard))};
}

SystemCheck judge_shared_memory(std::uint64_t total_bytes, std::uint64_t free_bytes) {
  constexpr std::uint64_t kMiB = 1 << 20;
  constexpr std::uint64_t kComfortable = 256 * kMiB;
  const std::string finding = fmt::format("{} MiB, {} MiB free", total_bytes / kMiB, free_bytes / kMiB);
  if (free_bytes >= kComfortable) return {Verdict::kGood, "shared memory", finding, ""};
  return {Verdict::kWarning, "shared memory", finding, "in a container: start it with a larger --memory"};
}

// The facts come first, because bug reports need them, and are followed by the checks.
std::vector<SystemCheck> check_system() {
  const archive::Versions versions = installed_versions();
  std::vector<SystemCheck> checks = {
      {Verdict::kFact, "Trainyard", versions.trainyard, ""},
      {Verdict::kFact, "LibTorch", versions.libtorch, ""},
      {Verdict::kFact, "libzmq", zmq_version_text(), ""},
      {Verdict::kFact, "compiler", versions.compiler, ""},
      {Verdict::kFact, "ABI tag", std::string(host_abi_tag()), ""},
      {Verdict::kFact, "system", system_text(), ""},
      check_thread_variables(),
      check_blas(),
      check_threads(),
      check_memfd(),
      check_shared_memory(),
      check_open_files(),
      check_runs_directory(),
      check_process_program(),
      check_environment(environments::facts_of_this_process()),
  };
  add_plugins(checks);
  return checks;
}

}  // namespace trainyard::tools
