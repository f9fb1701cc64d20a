// SPDX-License-Identifier: Apache-2.0
#include "devices/cuda/fused_update.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "devices/cuda/calls.h"
#include "devices/cuda/cuda_device.h"
#include "devices/cuda/update_kernel.h"
#include "messages/error.h"

namespace trainyard::cuda_device {
namespace {

using CoefficientSets = std::vector<devices::Coefficients<double>>;

constexpr std::size_t kAlignment = 16;  ///< Of every region, because a thread loads and stores 16 bytes at a time.

Stored stored_as(DType type) {
  switch (type) {
    case DType::kFloat64:
      return Stored::kFloat64;
    case DType::kFloat32:
      return Stored::kFloat32;
    case DType::kBFloat16:
      return Stored::kBFloat16;
    case DType::kFloat16:
      return Stored::kFloat16;
    default:
      throw Error(Code::kUnsupported, "parameters of type {} cannot be updated", name_of(type));
  }
}

void* aligned(const devices::Region& region) {
  if (reinterpret_cast<std::uintptr_t>(region.address()) % kAlignment == 0) return region.address();
  throw Error(Code::kInternal, "{} begins at byte {}, and must begin at a multiple of {} to be updated",
              region.block().what(), region.offset(), kAlignment);
}

bool equal(const devices::Coefficients<double>& a, const devices::Coefficients<double>& b) {
  return a.gradient_scale == b.gradient_scale && a.weight_decay == b.weight_decay && a.keep == b.keep &&
         a.step_size == b.step_size && a.decay1 == b.decay1 && a.gain1 == b.gain1 && a.decay2 == b.decay2 &&
         a.gain2 == b.gain2 && a.root_scale == b.root_scale && a.eps == b.eps && a.root_divisor == b.root_divisor;
}

std::size_t chunks_of(const std::vector<devices::UpdateRange>& ranges) {
  std::size_t chunks = 0;
  for (const devices::UpdateRange& range : ranges) chunks += (range.count + kChunk - 1) / kChunk;
  return chunks;
}

/// Returns page-locked memory, from which a copy to the GPU does not make the thread wait.
std::shared_ptr<void> page_locked(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaHostAlloc(&memory, bytes, cudaHostAllocDefault), "cudaHostAlloc", "the list of an update's chunks");
  return {memory, [](void* address) { cudaFreeHost(address); }};
}

class FusedUpdate final : public devices::Update {
 public:
  FusedUpdate(CudaDevice& device, CudaStream& stream, const devices::UpdateRequest& request,
              devices::UpdateRegions regions)
      : device_(device),
        stream_(stream),
        formula_(request.formula),
        stored_(stored_as(regions.dtype)),
        ranges_(request.ranges),
        regions_(std::move(regions)),
        chunks_(device.allocate(chunks_of(ranges_) * sizeof(Chunk), "the list of an update's chunks")) {
    blocks_.parameters = aligned(regions_.parameters);
    blocks_.gradients = aligned(regions_.gradients);
    for (std::size_t i = 0; i < regions_.state.size(); ++i) blocks_.state[i] = aligned(regions_.state[i]);
  }

  void run(std::span<const devices::Coefficients<double>> coefficients) override {
    if (!sort_into_sets(coefficients)) lay_out();
    const auto* chunks = static_cast<const Chunk*>(chunks_->address());
    for (std::size_t first = 0; first < sets_.size(); first += kSets) {
      const std::size_t last = std::min(first + kSets, sets_.size());
      const CoefficientSets part(sets_.begin() + static_cast<std::ptrdiff_t>(first),
                                 sets_.begin() + static_cast<std::ptrdiff_t>(last));
      const std::size_t begin = chunks_before_[first], count = chunks_before_[last] - begin;
      if (count == 0) continue;
      stream_.submit("update", "the kernel of the optimizer", kept(), [&](cudaStream_t stream) {
        return static_cast<cudaError_t>(launch_update(formula_, stored_, blocks_, chunks + begin, count, part, stream));
      });
    }
  }

 private:
  /// Returns the memory on which the kernel works.
  CudaStream::Kept kept() const {
    CudaStream::Kept kept{chunks_, regions_.parameters.owner(), regions_.gradients.owner()};
    for (const devices::Region& state : regions_.state) kept.push_back(state.owner());
    return kept;
  }

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

  /// Divides the ranges into chunks, sorted by their set, and copies the list to the GPU. The number of chunks is
  /// always the same. The copy is behind the kernels that read the list of the step before.
  void lay_out() {
    std::vector<Chunk> chunks;
    chunks_before_.assign(1, 0);
    for (std::uint32_t set = 0; set < sets_.size(); ++set) {
      for (std::size_t r = 0; r < ranges_.size(); ++r) {
        if (set_of_[r] == set) add_chunks(ranges_[r], set % kSets, chunks);
      }
      chunks_before_.push_back(chunks.size());
    }
    if (chunks.empty()) return;
    const CurrentGpu current(device_.gpu());
    const std::size_t bytes = chunks.size() * sizeof(Chunk);
    const std::shared_ptr<void> staged = page_locked(bytes);
    std::memcpy(staged.get(), chunks.data(), bytes);
    stream_.submit("list of chunks", "cudaMemcpyAsync", {chunks_, staged}, [&](cudaStream_t stream) {
      return cudaMemcpyAsync(chunks_->address(), staged.get(), bytes, cudaMemcpyHostToDevice, stream);
    });
  }

  static void add_chunks(const devices::UpdateRange& range, std::uint32_t set, std::vector<Chunk>& chunks) {
    for (std::uint64_t done = 0; done < range.count; done += kChunk) {
      chunks.push_back(
          {range.begin + done, static_cast<std::uint32_t>(std::min<std::uint64_t>(kChunk, range.count - done)), set});
    }
  }

  CudaDevice& device_;
  CudaStream& stream_;
  devices::Formula formula_;
  Stored stored_;
  std::vector<devices::UpdateRange> ranges_;
  devices::UpdateRegions regions_;
  Blocks blocks_;
  CoefficientSets sets_;               ///< The different coefficients of the step.
  std::vector<std::uint32_t> set_of_;  ///< For every range, the index of its coefficients.
  /// For every set, the number of chunks of the sets before; then all chunks.
  std::vector<std::size_t> chunks_before_;
  std::shared_ptr<devices::Block> chunks_;  ///< The list of Chunk in the memory of the GPU.
};

}  // namespace

std::unique_ptr<devices::Update> make_fused_update(CudaDevice& device, CudaStream& stream,
                                                   const devices::UpdateRequest& request,
                                                   devices::UpdateRegions regions) {
  return std::make_unique<FusedUpdate>(device, stream, request, std::move(regions));
}

}  // namespace trainyard::cuda_device
