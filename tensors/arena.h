#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "messages/arena.h"
#include "messages/buffer.h"
#include "tensors/named_tensor.h"

namespace trainyard {

/// The parameters of one rank and their gradients, each in one flat block, and the model's buffers in a third.
///
/// Every entry starts at a multiple of 64 bytes; what lies between entries is padding and stays zero, so that norms,
/// optimizers and reductions may run over whole blocks. The model's tensors become views of the blocks: values are
/// moved in once, autograd then accumulates into the gradient block in place.
class Arena {
 public:
  static constexpr std::uint64_t kAlignment = 64;

  /// Gives zeroed memory, aligned to kAlignment.
  using Allocate = std::function<Buffer(std::size_t bytes)>;

  /// Moves everything in. All parameters must have one dtype and be leaves that require a gradient. Throws
  /// kInvalidArgument for a name that is used twice or a tensor that cannot be moved, kUnsupported for mixed dtypes.
  Arena(const std::vector<NamedTensor>& parameters, const std::vector<NamedTensor>& buffers, const Allocate& allocate);

  /// Flat views of the blocks, with the dtype of the parameters.
  const at::Tensor& parameters() const { return parameters_; }
  const at::Tensor& gradients() const { return gradients_; }

  bool has_buffers() const { return !buffers_block_.empty(); }

  /// Trainable numbers, without padding.
  std::uint64_t parameter_count() const { return parameter_count_; }

  /// Bytes of all blocks.
  std::uint64_t bytes() const;

  /// The message that lets the optimizer and the checkpoint writer work on the same memory.
  ArenaInfo info(std::uint32_t rank, const std::string& device, const std::string& model) const;

 private:
  std::uint64_t lay_out(const std::vector<NamedTensor>& tensors, const std::string& block);

  std::vector<ArenaEntry> entries_;
  std::uint64_t parameter_count_ = 0;
  Buffer parameters_block_;
  Buffer gradients_block_;
  Buffer buffers_block_;
  at::Tensor parameters_;
  at::Tensor gradients_;
};

}  // namespace trainyard
