// SPDX-License-Identifier: Apache-2.0
// Compiled with --fmad=false, so that multiplications and additions are not fused, and float results have the same bits
// as on the processor (devices/update_rules.h).
#include "devices/cuda/update_kernel.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>

namespace trainyard::cuda_device {
namespace {

constexpr int kThreads = 256;

/// The coefficients of all sets. They are arguments of the kernel, so no memory of the GPU is needed for them.
template <class A>
struct Sets {
  devices::Coefficients<A> of[kSets];
};

/// The elements that a thread loads and stores at a time: 16 bytes of each block of parameters.
template <class T>
constexpr int kLanes = 16 / sizeof(T);
template <class T>
struct alignas(16) Pack {
  T of[kLanes<T>];
};
/// The state of these elements.
template <class T, class A>
struct alignas(16) StatePack {
  A of[kLanes<T>];
};

__device__ float widened(float x) { return x; }
__device__ double widened(double x) { return x; }
__device__ float widened(__nv_bfloat16 x) { return __bfloat162float(x); }
__device__ float widened(__half x) { return __half2float(x); }
__device__ void narrow(float x, float& to) { to = x; }
__device__ void narrow(double x, double& to) { to = x; }
__device__ void narrow(float x, __nv_bfloat16& to) { to = __float2bfloat16_rn(x); }
__device__ void narrow(float x, __half& to) { to = __float2half_rn(x); }

/// Updates one element. `x`, `y` and `z` are its state, as far as the rule has any.
template <class Rule, class T, class A>
__device__ void update_element(T& parameter, T& gradient, A& x, A& y, A& z, const devices::Coefficients<A>& c) {
  const A g = widened(gradient) * c.gradient_scale;
  narrow(Rule::update(widened(parameter), g, x, y, z, c), parameter);
  gradient = T{};
}

template <class Rule, class T, class A>
__device__ void update_pack(const Blocks& blocks, std::uint64_t first, const devices::Coefficients<A>& c) {
  auto* parameters = reinterpret_cast<Pack<T>*>(static_cast<T*>(blocks.parameters) + first);
  auto* gradients = reinterpret_cast<Pack<T>*>(static_cast<T*>(blocks.gradients) + first);
  const auto state = [&](int i) {
    return reinterpret_cast<StatePack<T, A>*>(static_cast<A*>(blocks.state[i]) + first);
  };
  Pack<T> p = *parameters, g = *gradients;
  StatePack<T, A> x{}, y{}, z{};
  if constexpr (Rule::kStates > 0) x = *state(0);
  if constexpr (Rule::kStates > 1) y = *state(1);
  if constexpr (Rule::kStates > 2) z = *state(2);
#pragma unroll
  for (int i = 0; i < kLanes<T>; ++i) update_element<Rule>(p.of[i], g.of[i], x.of[i], y.of[i], z.of[i], c);
  *parameters = p;
  *gradients = g;
  if constexpr (Rule::kStates > 0) *state(0) = x;
  if constexpr (Rule::kStates > 1) *state(1) = y;
  if constexpr (Rule::kStates > 2) *state(2) = z;
}

template <class Rule, class T, class A>
__device__ void update_one(const Blocks& blocks, std::uint64_t at, const devices::Coefficients<A>& c) {
  A none{};
  const auto state = [&](int i) -> A& { return static_cast<A*>(blocks.state[i])[at]; };
  update_element<Rule>(static_cast<T*>(blocks.parameters)[at], static_cast<T*>(blocks.gradients)[at],
                       Rule::kStates > 0 ? state(0) : none, Rule::kStates > 1 ? state(1) : none,
                       Rule::kStates > 2 ? state(2) : none, c);
}

/// One block of threads processes one chunk.
template <class Rule, class T, class A>
__global__ void __launch_bounds__(kThreads) update_chunks(Blocks blocks, const Chunk* chunks, Sets<A> sets) {
  const Chunk chunk = chunks[blockIdx.x];
  const devices::Coefficients<A> c = sets.of[chunk.set];
  // A part of the arena begins at a multiple of 64 bytes, so only its last few elements are processed one by one.
  const bool aligned = chunk.begin % kLanes<T> == 0;
  const std::uint32_t packed = aligned ? chunk.count / kLanes<T> * kLanes<T> : 0;
  for (std::uint32_t i = threadIdx.x * kLanes<T>; i < packed; i += kThreads * kLanes<T>) {
    update_pack<Rule, T, A>(blocks, chunk.begin + i, c);
  }
  for (std::uint32_t i = packed + threadIdx.x; i < chunk.count; i += kThreads) {
    update_one<Rule, T, A>(blocks, chunk.begin + i, c);
  }
}

template <class T, class A>
void launch(devices::Formula formula, const Blocks& blocks, const Chunk* chunks, std::size_t count,
            const std::vector<devices::Coefficients<double>>& sets, cudaStream_t stream) {
  Sets<A> rounded;
  for (std::size_t i = 0; i < sets.size(); ++i) rounded.of[i] = devices::rounded<A>(sets[i]);
  devices::with_rule(formula, [&](auto rule) {
    update_chunks<decltype(rule), T, A><<<static_cast<unsigned>(count), kThreads, 0, stream>>>(blocks, chunks, rounded);
  });
}

}  // namespace

int launch_update(devices::Formula formula, Stored stored, const Blocks& blocks, const Chunk* chunks, std::size_t count,
                  const std::vector<devices::Coefficients<double>>& sets, cudaStream_t stream) {
  switch (stored) {
    case Stored::kFloat64:
      launch<double, double>(formula, blocks, chunks, count, sets, stream);
      break;
    case Stored::kFloat32:
      launch<float, float>(formula, blocks, chunks, count, sets, stream);
      break;
    case Stored::kBFloat16:
      launch<__nv_bfloat16, float>(formula, blocks, chunks, count, sets, stream);
      break;
    case Stored::kFloat16:
      launch<__half, float>(formula, blocks, chunks, count, sets, stream);
      break;
  }
  return cudaGetLastError();
}

}  // namespace trainyard::cuda_device
