// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/cross_entropy_kernel.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <type_traits>

namespace trainyard::cuda {
namespace {

constexpr int kThreads = 512;
constexpr int kWarp = 32;

__device__ float widened(float x) { return x; }
__device__ float widened(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ float widened(__half x) { return __half2float(x); }
__device__ void narrow(float x, float& to) { to = x; }
__device__ void narrow(float x, __nv_bfloat16& to) { to = __float2bfloat16_rn(x); }
__device__ void narrow(float x, __half& to) { to = __float2half_rn(x); }

/// The numbers that a thread loads and stores at a time, 16 bytes.
template <class T>
struct alignas(16) Pack {
  static constexpr int kLanes = 16 / sizeof(T);
  T of[kLanes];
};

/// The sum of exp(x - largest) over the numbers seen so far, and the largest of them.
struct Sum {
  float largest;
  float sum;
};

__device__ Sum joined(Sum a, Sum b) {
  const float largest = fmaxf(a.largest, b.largest);
  if (largest == -INFINITY) return {largest, 0};
  return {largest, a.sum * expf(a.largest - largest) + b.sum * expf(b.largest - largest)};
}

/// Returns the sum over all threads of the block, to every thread.
__device__ Sum joined_by_block(Sum mine) {
  __shared__ Sum of_warps[kThreads / kWarp];
  for (int distance = kWarp / 2; distance > 0; distance /= 2) {
    mine = joined(mine, {__shfl_xor_sync(~0U, mine.largest, distance), __shfl_xor_sync(~0U, mine.sum, distance)});
  }
  if (threadIdx.x % kWarp == 0) of_warps[threadIdx.x / kWarp] = mine;
  __syncthreads();
  Sum all = of_warps[0];
  for (int i = 1; i < kThreads / kWarp; ++i) all = joined(all, of_warps[i]);
  return all;
}

template <class T>
__device__ bool packs_fit(const T* row, std::int64_t classes) {
  return reinterpret_cast<std::uintptr_t>(row) % sizeof(Pack<T>) == 0 && classes % Pack<T>::kLanes == 0;
}

template <class T>
__device__ Sum sum_of_row(const T* row, std::int64_t classes) {
  Sum mine{-INFINITY, 0};
  if (!packs_fit(row, classes)) {
    for (std::int64_t i = threadIdx.x; i < classes; i += kThreads) mine = joined(mine, {widened(row[i]), 1});
    return mine;
  }
  const auto* packs = reinterpret_cast<const Pack<T>*>(row);
  for (std::int64_t i = threadIdx.x; i < classes / Pack<T>::kLanes; i += kThreads) {
    const Pack<T> pack = packs[i];
    Sum part{-INFINITY, 0};
#pragma unroll
    for (int lane = 0; lane < Pack<T>::kLanes; ++lane) part.largest = fmaxf(part.largest, widened(pack.of[lane]));
#pragma unroll
    for (int lane = 0; lane < Pack<T>::kLanes; ++lane) {
      part.sum += part.largest == -INFINITY ? 0 : expf(widened(pack.of[lane]) - part.largest);
    }
    mine = joined(mine, part);
  }
  return mine;
}

/// One block of threads processes one row.
template <class T>
__global__ void __launch_bounds__(kThreads)
    cross_entropy(const T* logits, const std::int64_t* target, std::int64_t classes, float* log_sums, float* losses) {
  const T* row = logits + static_cast<std::int64_t>(blockIdx.x) * classes;
  const Sum all = joined_by_block(sum_of_row(row, classes));
  if (threadIdx.x != 0) return;
  const std::int64_t right = target[blockIdx.x];
  const float log_sum = all.largest + logf(all.sum);
  log_sums[blockIdx.x] = log_sum;
  losses[blockIdx.x] = right >= 0 && right < classes ? log_sum - widened(row[right]) : NAN;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    cross_entropy_backward(const T* logits, const std::int64_t* target, std::int64_t classes, const float* log_sums,
                           const float* factor, T* gradient) {
  const std::int64_t begin = static_cast<std::int64_t>(blockIdx.x) * classes;
  const std::int64_t right = target[blockIdx.x];
  const float log_sum = log_sums[blockIdx.x];
  const float scale = *factor / static_cast<float>(gridDim.x);
  const auto slope = [&](T x, std::int64_t i) { return (expf(widened(x) - log_sum) - (i == right ? 1.0F : 0.0F)) * scale; };
  if (!packs_fit(logits + begin, classes) || !packs_fit(gradient + begin, classes)) {
    for (std::int64_t i = threadIdx.x; i < classes; i += kThreads) narrow(slope(logits[begin + i], i), gradient[begin + i]);
    return;
  }
  const auto* packs = reinterpret_cast<const Pack<T>*>(logits + begin);
  auto* results = reinterpret_cast<Pack<T>*>(gradient + begin);
  for (std::int64_t i = threadIdx.x; i < classes / Pack<T>::kLanes; i += kThreads) {
    Pack<T> pack = packs[i];
#pragma unroll
    for (int lane = 0; lane < Pack<T>::kLanes; ++lane) {
      narrow(slope(pack.of[lane], i * Pack<T>::kLanes + lane), pack.of[lane]);
    }
    results[i] = pack;
  }
}

/// Calls `use` with a null pointer of the type in which the logits are stored.
template <class Use>
int with_type(Logits type, const Use& use) {
  switch (type) {
    case Logits::kFloat32:
      use(static_cast<float*>(nullptr));
      break;
    case Logits::kBFloat16:
      use(static_cast<__nv_bfloat16*>(nullptr));
      break;
    case Logits::kFloat16:
      use(static_cast<__half*>(nullptr));
      break;
  }
  return cudaGetLastError();
}

}  // namespace

int launch_cross_entropy(Logits type, const void* logits, const std::int64_t* target, std::int64_t rows,
                         std::int64_t classes, float* log_sums, float* losses, cudaStream_t stream) {
  return with_type(type, [&](auto* stored) {
    using T = std::remove_pointer_t<decltype(stored)>;
    cross_entropy<T><<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(static_cast<const T*>(logits), target, classes,
                                                                           log_sums, losses);
  });
}

int launch_cross_entropy_backward(Logits type, const void* logits, const std::int64_t* target, std::int64_t rows,
                                  std::int64_t classes, const float* log_sums, const float* factor, void* gradient,
                                  cudaStream_t stream) {
  return with_type(type, [&](auto* stored) {
    using T = std::remove_pointer_t<decltype(stored)>;
    cross_entropy_backward<T><<<static_cast<unsigned>(rows), kThreads, 0, stream>>>(
        static_cast<const T*>(logits), target, classes, log_sums, factor, static_cast<T*>(gradient));
  });
}

}  // namespace trainyard::cuda
