// SPDX-License-Identifier: Apache-2.0
// Compares the optimizer's kernel with a copy inside the GPU's memory: AdamW over the 124 million float32 parameters of
// GPT-2 reads four blocks and writes four. Prints one JSON object with both rates.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/plugin/loader.h"
#include "devices/driver.h"
#include "devices/uuid.h"

namespace {

using namespace trainyard;
using devices::Region;

constexpr std::uint64_t kParameters = 124'000'000;
constexpr int kTimes = 50;

/// Returns the UUID of the first GPU; empty if there is none.
std::string first_gpu() {
  int count = 0;
  cudaDeviceProp properties{};
  const bool there =
      cudaGetDeviceCount(&count) == cudaSuccess && count > 0 && cudaGetDeviceProperties(&properties, 0) == cudaSuccess;
  return there ? devices::uuid_text(properties.uuid.bytes) : "";
}

/// Returns the median time of a call in seconds, by the clock of the GPU. `work` submits to `stream`.
double time_of(cudaStream_t stream, const std::function<void()>& work) {
  std::vector<float> times;
  cudaEvent_t begin = nullptr, end = nullptr;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (int i = 0; i < kTimes; ++i) {
    cudaEventRecord(begin, stream);
    work();
    cudaEventRecord(end, stream);
    cudaEventSynchronize(end);
    times.push_back(0);
    cudaEventElapsedTime(&times.back(), begin, end);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2] / 1000;
}

void measure(devices::Device& device) {
  cudaStream_t native = nullptr;
  cudaStreamCreateWithFlags(&native, cudaStreamNonBlocking);
  const auto stream = device.adopt_stream("update", native);
  const auto block = [&](const char* what) { return Region(device.allocate(4 * kParameters, what)); };
  const devices::UpdateRegions regions{
      DType::kFloat32, block("parameters"), block("gradients"), {block("exp_avg"), block("exp_avg_sq")}};
  const auto update = device.make_update(*stream, {devices::Formula::kAdamW, {{0, kParameters}}, {}}, regions);
  const std::vector<devices::Coefficients<double>> coefficients{
      {.keep = 0.999, .step_size = 1e-3, .decay1 = 0.9, .gain1 = 0.1, .decay2 = 0.99, .gain2 = 0.01, .eps = 1e-8}};
  const double updated = time_of(native, [&] { update->run(coefficients); });
  const Region to = block("copy");
  const double copied = time_of(native, [&] { stream->copy(to, regions.parameters); });
  constexpr double kGigabyte = 1e9, kBytes = 4.0 * kParameters;
  std::printf(
      "{\"name\": \"adamw\", \"update_ms\": %.4f, \"update_gb_s\": %.1f, \"copy_gb_s\": %.1f, \"ratio\": %.3f}\n",
      1000 * updated, 8 * kBytes / updated / kGigabyte, 2 * kBytes / copied / kGigabyte,
      (8 * kBytes / updated) / (2 * kBytes / copied));
}

}  // namespace

int main() {
  const std::string uuid = first_gpu();
  if (uuid.empty()) {
    std::fprintf(stderr, "there is no GPU\n");
    return 1;
  }
  core::PluginLoader loader({TRAINYARD_PLUGINS});
  PluginContext context;
  context.where = "device 'cuda'";
  context.parameters = "{}";
  context.plugins = &loader;
  const auto driver = loader.create<devices::Driver>("cuda", context);
  measure(*driver->open(uuid));
}
