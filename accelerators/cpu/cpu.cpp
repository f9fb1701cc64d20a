// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cpu/cpu.h"

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>

#include "accelerators/cpu/host.h"
#include "messages/error.h"
#include "tensors/precision.h"
#include "tensors/version.h"

namespace trainyard {
namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

/// The cores on which one rank computes.
class Cores final : public ClaimedDevice {
 public:
  explicit Cores(const Accelerator& cpu) : ClaimedDevice(cpu, at::Device(at::kCPU)) {}

  /// Returns "memory_bytes" (the resident memory of the process), "cpu_seconds" (the processor time of the process) and
  /// "threads".
  std::map<std::string, double> stats() const override;
};

std::map<std::string, double> Cores::stats() const {
  std::ifstream file("/proc/self/statm");
  double total_pages = 0;
  double resident_pages = 0;
  file >> total_pages >> resident_pages;
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {{"memory_bytes", resident_pages * static_cast<double>(sysconf(_SC_PAGESIZE))},
          {"cpu_seconds", seconds(usage.ru_utime) + seconds(usage.ru_stime)},
          {"threads", static_cast<double>(at::get_num_threads())}};
}

}  // namespace

Cpu::Cpu(AcceleratorContext& context) : Accelerator(context) {}

FoundDevices Cpu::find_devices() const { return {.count = cpu::usable_cores(), .problem = {}}; }

/// If LibTorch has no float16 kernels for the CPU, the precision 16-mixed is emulated, and 16-true is not supported.
AcceleratorTraits Cpu::traits() const {
  AcceleratorTraits traits{.precisions = {}, .shared_devices = true, .auto_priority = 1};
  for (const std::string& name : precision_names()) {
    if (name != "16-true" || kHalfOnCpu) traits.precisions.push_back(name);
  }
  // LibTorch multiplies bfloat16 matrices with oneDNN, which uses these instructions.
  if (!cpu::multiplies_bfloat16()) {
    traits.auto_precision_reason = "this processor has no instructions for bfloat16 (AVX512-BF16 or AMX)";
  } else if (!at::hasMKLDNN()) {
    traits.auto_precision_reason = "this LibTorch has no oneDNN, which multiplies bfloat16 matrices";
  } else {
    traits.auto_precision = "bf16-mixed";
    traits.auto_precision_reason = "this processor has instructions for bfloat16 (AVX512-BF16)";
  }
  return traits;
}

/// Returns the cores of this rank: an equal, contiguous part of the cores in `cpus`, so that neighbours stay together.
std::vector<int> Cpu::own_cores() const {
  const std::size_t ranks = context().ranks_here();
  const std::size_t share = cpus_->size() / ranks;
  if (share == 0 && !cpus_->empty()) {
    throw Error(Code::kInvalidArgument, "{}: cpus names {} cores for {} ranks; every rank needs one", where(),
                cpus_->size(), ranks);
  }
  const auto first = cpus_->begin() + static_cast<std::ptrdiff_t>(share * context().rank_here());
  return {first, first + static_cast<std::ptrdiff_t>(share)};
}

/// Returns the number of threads. The value in the launch file has priority over the user's environment variables, and
/// these have priority over the number of cores.
int Cpu::threads() const {
  if (*threads_ == "auto") {
    const std::size_t cores = own_cores().size();
    if (cores > 0) return static_cast<int>(cores);
    return cpu::automatic_threads(context().ranks_here());
  }
  int number = 0;
  const char* end = threads_->data() + threads_->size();
  const auto [rest, error] = std::from_chars(threads_->data(), end, number);
  if (error != std::errc() || rest != end || number < 1) {
    throw Error(Code::kInvalidArgument, "{}: threads = '{}' is not allowed; a number >= 1, or 'auto'", where(),
                *threads_);
  }
  return number;
}

/// Logs a warning if other programs use many of the cores. The threads of a kernel wait for the slowest thread, so a
/// single thread that another program keeps from its core delays all of them.
void Cpu::warn_if_crowded() const {
  const double load = cpu::recent_load();
  if (context().rank_here() != 0 || threads() == 1 || load < cpu::kCrowded * cpu::usable_cores()) return;
  context().log->warn(
      "{}: other programs have kept {:.1f} of {} cores busy during the last minute; {} threads that wait for each "
      "other "
      "may be slower than one: try accelerator = {{plugin = 'cpu', threads = '1'}} or OMP_NUM_THREADS=1",
      where(), load, cpu::usable_cores(), threads());
}

/// Tells the user about a BLAS that is much slower than it could be.
void Cpu::warn_of_slow_blas() const {
  const cpu::Blas blas = cpu::loaded_blas();
  if (blas.reference) {
    context().log->warn(
        "{}: LibTorch runs on the reference BLAS ({}), about 30 times slower than OpenBLAS; install "
        "libopenblas0-pthread",
        where(), blas.path);
  }
  const std::string better = cpu::better_kernels(blas.kernels);
  if (!better.empty()) {
    context().log->warn(
        "{}: OpenBLAS does not know this processor and uses the kernels for {}, which are several times slower; set "
        "the environment variable OPENBLAS_CORETYPE={}, or build with a newer LibTorch (TRAINYARD_TORCH=pypi)",
        where(), blas.kernels, better);
  }
}

/// Pins the thread first, so that memory that is used later is allocated near its cores.
std::unique_ptr<ClaimedDevice> Cpu::open(int) const {
  const std::vector<int> cores = own_cores();
  if (!cores.empty()) cpu::pin_to_cores(cores);
  cpu::keep_freed_memory();
  at::set_num_threads(threads());
  cpu::set_blas_threads(threads());
  warn_if_crowded();
  warn_of_slow_blas();
  return std::make_unique<Cores>(*this);
}

}  // namespace trainyard

TRAINYARD_ACCELERATOR(trainyard::Cpu, "cpu", "The processor of this host.")
