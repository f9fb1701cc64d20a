#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "messages/arena.h"
#include "messages/buffer.h"
#include "tensors/mirrored_block.h"
#include "tensors/named_tensor.h"

namespace trainyard {

/// The parameters of one rank and their gradients, each in one flat block, and the model's buffers in a third.
///
/// Every entry starts at a multiple of 64 bytes; what lies between entries is padding and stays zero, so that norms,
/// optimizers and reductions may run over whole blocks. The model's tensors become views of the blocks: values are
/// moved in once, autograd then accumulates into the gradient block in place.
///
/// What is announced is host memory. Where the device has memory of its own, the model's tensors live there and the
/// host memory mirrors them: `publish` makes the device's values visible to the other components, `fetch` takes theirs.
/// Everywhere else there is one memory and these do nothing.
class Arena {
 public:
  static constexpr std::uint64_t kAlignment = 64;

  /// Gives zeroed host memory, aligned to kAlignment.
  using Allocate = std::function<Buffer(std::size_t bytes)>;

  /// Moves everything in. All parameters must have one dtype and be leaves that require a gradient. Throws
  /// kInvalidArgument for a name that is used twice or a tensor that cannot be moved, kUnsupported for mixed dtypes.
  Arena(const std::vector<NamedTensor>& parameters, const std::vector<NamedTensor>& buffers, const Allocate& allocate,
        const DeviceMemory& own = {});

  /// Flat views of the blocks, where kernels work on them, with the dtype of the parameters.
  const at::Tensor& parameters() const { return parameters_.flat(); }
  const at::Tensor& gradients() const { return gradients_.flat(); }

  bool has_buffers() const { return !buffers_.empty(); }

  /// After a strategy has changed the parameters.
  void publish_parameters() const { parameters_.to_host(); }

  /// Hands a step's gradients to the optimizer, which zeroes those that it sees; those of the device are zeroed here.
  void publish_gradients() const;

  /// Before a snapshot.
  void publish_buffers() const { buffers_.to_host(); }

  /// After the optimizer has changed the parameters.
  void fetch_parameters() const { parameters_.to_device(); }

  /// After a checkpoint may have been restored.
  void fetch_all() const;

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
  MirroredBlock parameters_;
  MirroredBlock gradients_;
  MirroredBlock buffers_;  ///< Of bytes: buffers may have different dtypes.
};

}  // namespace trainyard
