// SPDX-License-Identifier: Apache-2.0
// Compares the optimizer's kernel with a copy inside the GPU's memory: AdamW over the 124 million float32 parameters of
// GPT-2 reads four blocks and writes four. Prints one JSON object with both rates.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <vector>

#include "accelerators/cuda/fused_update.h"

namespace {

using namespace trainyard;

constexpr std::int64_t kParameters = 124'000'000;
constexpr int kTimes = 50;

/// Returns the median time of a call in seconds, by the clock of the GPU.
double time_of(const std::function<void()>& work) {
  std::vector<float> times;
  cudaEvent_t begin = nullptr, end = nullptr;
  cudaEventCreate(&begin);
  cudaEventCreate(&end);
  for (int i = 0; i < kTimes; ++i) {
    cudaEventRecord(begin, c10::cuda::getCurrentCUDAStream());
    work();
    cudaEventRecord(end, c10::cuda::getCurrentCUDAStream());
    cudaEventSynchronize(end);
    times.push_back(0);
    cudaEventElapsedTime(&times.back(), begin, end);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2] / 1000;
}

}  // namespace

int main() {
  if (c10::cuda::device_count() == 0) {
    std::fprintf(stderr, "there is no GPU\n");
    return 1;
  }
  const auto block = [] { return at::zeros({kParameters}, at::TensorOptions().device(at::kCUDA)); };
  const UpdateBlocks blocks{block(), block(), {block(), block()}};
  const auto update = cuda::make_fused_update({devices::Formula::kAdamW, {{0, kParameters}}, {}}, blocks);
  const std::vector<devices::Coefficients<double>> coefficients{
      {.keep = 0.999, .step_size = 1e-3, .decay1 = 0.9, .gain1 = 0.1, .decay2 = 0.99, .gain2 = 0.01, .eps = 1e-8}};
  const double updated = time_of([&] { update->run(coefficients); });
  at::Tensor to = block();
  const at::Tensor from = block();
  const double copied = time_of([&] { to.copy_(from, /*non_blocking=*/true); });
  const double gigabyte = 1e9, bytes = 4.0 * kParameters;
  std::printf(
      "{\"name\": \"adamw\", \"update_ms\": %.4f, \"update_gb_s\": %.1f, \"copy_gb_s\": %.1f, \"ratio\": %.3f}\n",
      1000 * updated, 8 * bytes / updated / gigabyte, 2 * bytes / copied / gigabyte,
      (8 * bytes / updated) / (2 * bytes / copied));
}
