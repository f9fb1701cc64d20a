// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/arena.h"
#include "messages/buffer.h"
#include "tensors/mirrored_block.h"
#include "tensors/named_tensor.h"
#include "tensors/snapshot_copies.h"
#include "tensors/tensor_arena.h"

namespace trainyard {

/// The shard of a rank, that is, the range of bytes in the block of all parameters for which the rank is responsible.
/// Also states which of the rank's blocks hold only this range. By default the shard is everything.
struct ArenaShard {
  static constexpr std::uint64_t kAlignment = 64;
  static constexpr std::uint64_t kEnd = ~std::uint64_t{0};

  std::uint64_t begin = 0;   ///< The first byte; a multiple of kAlignment.
  std::uint64_t end = kEnd;  ///< The end (exclusive); a multiple of kAlignment, or kEnd for the end of the block.
  bool gradients = false;    ///< True if the block of gradients holds only the shard.
  bool parameters = false;   ///< True if the block of parameters holds only the shard.
  /// True if autograd accumulates directly into the block of gradients, for every parameter whose gradient is
  /// completely in the block. If false, the strategy copies the gradients into the block.
  bool in_place = true;

  /// Returns the size of a block in bytes. `all` is its size if it holds everything, and `cut` states whether it holds
  /// only the shard. A shard may be empty, but a block always has some memory.
  std::uint64_t block_bytes(std::uint64_t all, bool cut) const;
};

/// The layout of an arena: the position of each parameter and buffer of a model in the flat blocks of memory that hold
/// them. It is computed before any memory is allocated.
struct ArenaLayout {
  std::vector<ArenaEntry> entries;  ///< The parameters, then the buffers.
  /// The size of the block of parameters, including padding.
  std::uint64_t parameter_bytes = 0;
  std::uint64_t buffer_bytes = 0;  ///< The size of the block of buffers, including padding.
  DType dtype = DType::kFloat32;   ///< The type of the parameters.

  /// Returns the total size in bytes of the blocks of a rank that has this shard.
  std::uint64_t bytes_of_rank(const ArenaShard& shard) const;

  /// Computes the layout. Throws kInvalidArgument if there are no parameters, if a name is repeated, or if a parameter
  /// is not a leaf that requires a gradient. Throws kUnsupported if the parameters have different dtypes.
  static ArenaLayout of(const std::vector<NamedTensor>& parameters, const std::vector<NamedTensor>& buffers);
};

/// The parameters, the gradients and the model's buffers of one rank, each in one flat block.
///
/// Every entry starts at a multiple of 64 bytes. The bytes between entries are padding and stay zero, so norms,
/// optimizers and reductions may process whole blocks. The model's tensors become views of the blocks: values are
/// copied in once, and autograd then accumulates into the gradient block in place.
///
/// The model computes in the memory of its device; the other components of the run use host memory. If the device has
/// separate memory, the model's tensors are stored there and the host memory mirrors them: the functions publish_...
/// copy the device's values to the host, and an ArenaEdit can fetch values that other components have changed.
/// Otherwise there is only one memory, and these functions copy nothing.
///
/// An optimizer can work on the device's memory instead: in the same process (ArenaInfo::device_arena), and with a
/// device plugin also in another process (share()). Gradients then stay on the device, and parameters are copied to
/// host memory only for readers and checkpoints.
///
/// The block of parameters may hold just a shard (ArenaShard). In that case, parameters that are not completely inside
/// it keep the memory that the model allocated, and the strategy that requested the shard must handle them.
class Arena {
 public:
  static constexpr std::uint64_t kAlignment = ArenaShard::kAlignment;

  /// A function that allocates `bytes` bytes of zeroed host memory, aligned to kAlignment.
  using Allocate = std::function<Buffer(std::size_t bytes)>;

  /// Copies all parameters and buffers into the arena; a block that holds only the shard gets only the values of the
  /// shard. All parameters must have the same dtype and be leaves that require a gradient. `own` describes the memory
  /// of the device, if it has separate memory. Throws what ArenaLayout::of throws, and kInvalidArgument for an invalid
  /// shard.
  Arena(const std::vector<NamedTensor>& parameters, const std::vector<NamedTensor>& buffers, const Allocate& allocate,
        const DeviceMemory& own = {}, const ArenaShard& shard = {});

  /// Return flat views of the memory that kernels work on, with the dtype of the parameters. Only the optimizer and the
  /// holders of an ArenaEdit may change parameters.
  const at::Tensor& parameters() const { return parameters_.flat(); }
  const at::Tensor& gradients() const { return gradients_.flat(); }

  /// Return views of the parameters and of the gradients that belong to this rank's shard. The optimizer works on this
  /// part of the blocks.
  at::Tensor own_parameters() const { return own_part(parameters_.flat(), shard_.parameters); }
  at::Tensor own_gradients() const { return own_part(gradients_.flat(), shard_.gradients); }

  /// Return the layout of all entries, and this rank's shard. The `end` of this shard is always the actual end, never
  /// kEnd.
  const ArenaLayout& layout() const { return layout_; }
  const ArenaShard& shard() const { return shard_; }

  /// Return the host memory of the blocks, which other processes can map. buffer_memory() is empty if the model has no
  /// buffers.
  const Buffer& parameter_memory() const { return parameters_.host(); }
  const Buffer& gradient_memory() const { return gradients_.host(); }
  const Buffer& buffer_memory() const { return buffers_.host(); }
  /// Returns the block of buffers that kernels work on, as a flat tensor of bytes. The tensor is undefined if the model
  /// has no buffers.
  at::Tensor buffers() const { return buffers_.flat(); }
  /// Returns true if the device has separate memory, which the host memory mirrors.
  bool is_mirrored() const { return parameters_.is_mirrored(); }

  bool has_buffers() const { return !buffers_.empty(); }

  /// Sets the callback, which replaces the previous one. It is called when an ArenaEdit that has changed or fetched
  /// parameters is destroyed.
  void on_change(std::function<void()> listener) { on_change_ = std::move(listener); }

  /// Makes the gradients of a step available to the optimizer. If the device has separate memory and the optimizer
  /// works in host memory, this function copies the gradients to host memory, and zeroes those on the device.
  /// Otherwise it does nothing. The optimizer zeroes the gradients after it has used them.
  void publish_gradients() const;

  /// Brings the parameters and the buffers in host memory up to date, for components that read them after a step.
  void publish_to_readers() const { publish(devices::Purpose::kReaders); }
  /// Brings the parameters, the buffers and the optimizer's state in host memory up to date, for a checkpoint. With a
  /// device plugin, this function only begins to copy them.
  void publish_for_snapshot();
  /// Returns the copies that publish_for_snapshot() begins. Returns null without a device plugin: host memory is then
  /// already up to date when publish_for_snapshot() returns.
  SnapshotCopies* snapshot_copies() { return copies_ ? &*copies_ : nullptr; }

  /// Returns what an optimizer in another process needs in order to work on the device, and offers it in info() from
  /// now on. Throws what TensorArena::share throws, and kUnsupported if the arena is in host memory.
  const SharedArena& share();
  /// Call this function when an optimizer in another process has announced that its state is on the device
  /// (OptimizerState::on_device). From then on, checkpoints include this state. Throws what TensorArena::adopt throws.
  void adopt(const OptimizerState& state);

  /// Call begin_update() before the message Gradients is sent to the optimizer, and end_update() when its message
  /// Parameters has arrived. On a device with a device plugin, these functions make the streams wait for each other, so
  /// that the computation, the update and the copies for a checkpoint happen in the right order.
  void begin_update();
  void end_update();

  /// Makes info() announce `parameters` to the optimizer in place of this rank's block, so the optimizer updates this
  /// memory instead. `parameters` is the memory of a parameter server: all ranks share it, and it has the layout of
  /// this rank's block.
  void serve_from(const Buffer& parameters) { server_ = parameters; }

  /// Returns the number of trainable values, without padding.
  std::uint64_t parameter_count() const { return parameter_count_; }

  /// Returns the total size of the blocks in bytes. A block that exists both on the device and in host memory counts
  /// once.
  std::uint64_t bytes() const;

  /// Returns the message that announces to the optimizer and the checkpoint writer where the blocks are. The arguments
  /// become fields of the message.
  ArenaInfo info(std::uint32_t rank, const std::string& device, const std::string& model) const;

 private:
  friend class ArenaEdit;

  bool is_updated_on_device() const { return device_ && device_->is_updated_on_device(); }
  void publish(devices::Purpose purpose) const;
  void begin_snapshot_copies();
  std::optional<devices::UpdateRegions> own_regions() const;
  void check_shard();
  bool holds(const ArenaEntry& entry) const;
  void move_parameter_in(const NamedTensor& named, const ArenaEntry& entry);
  void copy_overlap(const NamedTensor& named, const ArenaEntry& entry);
  at::Tensor own_part(const at::Tensor& flat, bool cut) const;
  Tensor own_part(Tensor block, bool cut) const;

  ArenaLayout layout_;
  ArenaShard shard_;
  std::uint64_t parameter_count_ = 0;
  MirroredBlock parameters_;
  MirroredBlock gradients_;
  MirroredBlock buffers_;  ///< A block of bytes, because buffers can have different dtypes.
  /// The interface through which an optimizer updates the parameters on the device; null if there is no separate
  /// memory.
  std::shared_ptr<TensorArena> device_;
  std::optional<SnapshotCopies> copies_;  ///< Made if there is a device plugin.
  std::optional<SharedArena> shared_;     ///< Made by share().
  Buffer server_;                         ///< The memory given to serve_from(); empty if there is none.
  std::function<void()> on_change_;
};

/// A scope in which its owner may change the parameters of an arena. The destructor makes the changes visible to the
/// optimizer and the checkpoint writer. If parameters were changed or fetched, the destructor also calls the listener
/// set by on_change(). An edit without changes costs nothing. If an exception destroys the edit, the destructor does
/// nothing, because the run ends anyway.
class ArenaEdit {
 public:
  explicit ArenaEdit(Arena& arena);
  ~ArenaEdit() noexcept(false);
  ArenaEdit(const ArenaEdit&) = delete;
  ArenaEdit& operator=(const ArenaEdit&) = delete;

  /// Returns the flat parameters, which the caller may change. The destructor treats them as changed.
  const at::Tensor& parameters();

  /// Copies the parameters from host memory to the device. Called after each update, because the optimizer may have
  /// updated the parameters in host memory. If it has updated them on the device, nothing is copied.
  void fetch_parameters();
  /// Copies the parameters, the buffers and the optimizer's state from host memory to the device. Called when a run
  /// begins, because a checkpoint may have been restored into host memory.
  void fetch_all();

 private:
  Arena& arena_;
  int exceptions_;        ///< The number of exceptions in flight when the edit began.
  bool changed_ = false;  ///< True if parameters may have been changed through this edit.
  bool fetched_ = false;  ///< True if parameters were fetched from host memory.
};

}  // namespace trainyard
