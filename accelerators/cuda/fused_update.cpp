// SPDX-License-Identifier: Apache-2.0
#if TRAINYARD_CUDA_KERNELS  // Without nvcc there are no kernels; see CMakeLists.txt.
#include "accelerators/cuda/fused_update.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "accelerators/cuda/update_kernel.h"
#include "messages/error.h"

namespace trainyard::cuda {
namespace {

using CoefficientSets = std::vector<devices::Coefficients<double>>;

Stored stored_as(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return Stored::kFloat64;
    case at::kBFloat16:
      return Stored::kBFloat16;
    case at::kHalf:
      return Stored::kFloat16;
    default:
      return Stored::kFloat32;  // The caller has refused all other types.
  }
}

bool equal(const devices::Coefficients<double>& a, const devices::Coefficients<double>& b) {
  return a.gradient_scale == b.gradient_scale && a.weight_decay == b.weight_decay && a.keep == b.keep &&
         a.step_size == b.step_size && a.decay1 == b.decay1 && a.gain1 == b.gain1 && a.decay2 == b.decay2 &&
         a.gain2 == b.gain2 && a.root_scale == b.root_scale && a.eps == b.eps && a.root_divisor == b.root_divisor;
}

class FusedUpdate final : public devices::Update {
 public:
  FusedUpdate(const devices::UpdateRequest& request, UpdateBlocks blocks)
      : formula_(request.formula), ranges_(request.ranges), tensors_(std::move(blocks)) {
    blocks_.parameters = tensors_.parameters.data_ptr();
    blocks_.gradients = tensors_.gradients.data_ptr();
    for (std::size_t i = 0; i < tensors_.state.size(); ++i) blocks_.state[i] = tensors_.state[i].data_ptr();
  }

  void run(std::span<const devices::Coefficients<double>> coefficients) override {
    const c10::cuda::CUDAGuard guard(tensors_.parameters.device());
    if (!sort_into_sets(coefficients)) lay_out();
    const auto* chunks = reinterpret_cast<const Chunk*>(chunks_.data_ptr());
    for (std::size_t first = 0; first < sets_.size(); first += kSets) {
      const std::size_t last = std::min(first + kSets, sets_.size());
      const CoefficientSets part(sets_.begin() + static_cast<std::ptrdiff_t>(first),
                                 sets_.begin() + static_cast<std::ptrdiff_t>(last));
      const std::size_t begin = chunks_before_[first], count = chunks_before_[last] - begin;
      if (count == 0) continue;
      const int error = launch_update(formula_, stored_as(tensors_.parameters.scalar_type()), blocks_, chunks + begin,
                                      count, part, c10::cuda::getCurrentCUDAStream());
      if (error != 0) {
        throw Error(Code::kInternal, "the kernel of the optimizer cannot be started on {}: {}",
                    tensors_.parameters.device().str(), cudaGetErrorString(static_cast<cudaError_t>(error)));
      }
    }
  }

 private:
  /// Collects the different coefficients of a step in sets_. Returns false if a range belongs to another set than in
  /// the step before, as in the first step.
  bool sort_into_sets(std::span<const devices::Coefficients<double>> coefficients) {
    sets_.clear();
    bool same = set_of_.size() == ranges_.size();
    set_of_.resize(ranges_.size());
    for (std::size_t r = 0; r < ranges_.size(); ++r) {
      const auto found = std::ranges::find_if(sets_, [&](const auto& set) { return equal(set, coefficients[r]); });
      const auto set = static_cast<std::uint32_t>(found - sets_.begin());
      if (found == sets_.end()) sets_.push_back(coefficients[r]);
      same = same && set_of_[r] == set;
      set_of_[r] = set;
    }
    return same;
  }

  /// Divides the ranges into chunks, sorted by their set, and copies the list to the GPU.
  void lay_out() {
    std::vector<Chunk> chunks;
    chunks_before_.assign(1, 0);
    for (std::uint32_t set = 0; set < sets_.size(); ++set) {
      for (std::size_t r = 0; r < ranges_.size(); ++r) {
        if (set_of_[r] == set) add_chunks(ranges_[r], set % kSets, chunks);
      }
      chunks_before_.push_back(chunks.size());
    }
    // Every address comes from an allocator of LibTorch, so the list is aligned. Copying waits, but happens once.
    const auto bytes = static_cast<std::int64_t>(chunks.size() * sizeof(Chunk));
    chunks_ = at::from_blob(chunks.data(), {bytes}, at::kByte).to(tensors_.parameters.device(), /*non_blocking=*/false);
  }

  static void add_chunks(const devices::UpdateRange& range, std::uint32_t set, std::vector<Chunk>& chunks) {
    for (std::uint64_t done = 0; done < range.count; done += kChunk) {
      chunks.push_back(
          {range.begin + done, static_cast<std::uint32_t>(std::min<std::uint64_t>(kChunk, range.count - done)), set});
    }
  }

  devices::Formula formula_;
  std::vector<devices::UpdateRange> ranges_;
  UpdateBlocks tensors_;  ///< Keeps the memory of the blocks.
  Blocks blocks_;
  CoefficientSets sets_;               ///< The different coefficients of the step.
  std::vector<std::uint32_t> set_of_;  ///< For every range, the index of its coefficients.
  std::vector<std::size_t>
      chunks_before_;  ///< For every set, the number of chunks of the sets before; then all chunks.
  at::Tensor chunks_;  ///< The list of Chunk in the memory of the GPU, as bytes.
};

}  // namespace

std::unique_ptr<devices::Update> make_fused_update(const devices::UpdateRequest& request, UpdateBlocks blocks) {
  return std::make_unique<FusedUpdate>(request, std::move(blocks));
}

}  // namespace trainyard::cuda

#endif
