// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "messages/device_handle.h"
#include "messages/tensor.h"

namespace trainyard {

namespace devices {
class DeviceArena;  // Defined in devices/device_arena.h.
}

/// The description of one parameter or buffer of the model: its name, type, shape and position in the arena. The arena
/// is the memory that holds a rank's parameters, gradients and buffers.
///
/// Each parameter has one entry, whose `block` is "parameters". The gradient and the optimizer state of the parameter
/// are at the same offset in other blocks, so they need no entries.
struct ArenaEntry {
  static constexpr const char* kTypeName = "ArenaEntry";

  std::string name;        ///< For example "layers.0.attention.weight".
  std::string block;       ///< "parameters" or "buffers".
  std::uint8_t dtype = 7;  ///< The DType of the elements, as a number.
  /// The shape of the tensor, which is row-major and dense. A scalar has an empty shape.
  std::vector<std::int64_t> shape;
  /// The distance in bytes from the start of the complete block to the tensor; a multiple of 64. A rank may hold only a
  /// part of the complete block (see ArenaInfo::shard_begin).
  std::uint64_t offset_bytes = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(block), CEREAL_NVP(dtype), CEREAL_NVP(shape), CEREAL_NVP(offset_bytes));
  }
};

/// One block of the arena or of the optimizer's state: a one-dimensional tensor whose memory other components can map.
///
/// The memory is permanent (SharedPool::allocate_permanent): it is not moved, resized or reused during the run. A
/// component that receives the block in a message maps the memory once and can then keep using the pointer.
struct ArenaBlock {
  static constexpr const char* kTypeName = "ArenaBlock";

  /// The accelerator host's blocks are "parameters", "gradients" and "buffers". An optimizer's blocks have the names
  /// that its update rule gives them, such as "exp_avg".
  std::string name;
  Tensor data;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(data));
  }
};

/// The parameters and the gradients of one rank in the memory of a device that other processes of the host can open.
/// Both blocks contain only the rank's part (ArenaInfo::shard_begin).
///
/// The accelerator host and the optimizer submit their work to different streams of the device. Two fences keep the
/// order, so neither process waits for the device. For the n-th update since the accelerator host's process started,
/// both fences are set to the value n.
struct SharedArena {
  static constexpr const char* kTypeName = "SharedArena";

  std::uint8_t dtype = 7;  ///< The DType of the parameters and gradients, as a number.
  BlockHandle parameters;
  BlockHandle gradients;
  /// The accelerator host signals this fence when the gradients are complete. The update waits for it.
  FenceHandle gradients_ready;
  /// The optimizer signals this fence when the update is done. The next forward pass waits for it.
  FenceHandle parameters_ready;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(dtype), CEREAL_NVP(parameters), CEREAL_NVP(gradients), CEREAL_NVP(gradients_ready),
            CEREAL_NVP(parameters_ready));
  }
};

/// The message that gives other components access to the arena of one rank: the blocks of memory that hold the rank's
/// parameters, gradients and buffers.
///
/// The gradients and every block of optimizer state have the same layout as the parameters. The bytes between entries
/// are padding and stay zero. An optimizer can therefore process a whole block as one long vector, and the norm of a
/// block is the norm of all its tensors together.
///
/// The accelerator host sends this message once, after it has built the model, to the optimizer and the checkpoint
/// writer. After that, these three components share the memory. The messages Gradients, Parameters, Snapshot and
/// SnapshotTaken determine when each component may access the memory.
struct ArenaInfo {
  static constexpr const char* kTypeName = "ArenaInfo";

  /// The rank of the accelerator host that sends the message.
  std::uint32_t rank = 0;
  /// The device whose memory contains `blocks`. The accelerator host always sends "cpu": if the arena is in the memory
  /// of another device, `blocks` are a copy of it in host memory, the mirror.
  std::string device = "cpu";
  std::string model;  ///< The name of the model plugin.
  std::vector<ArenaBlock> blocks;
  /// The entries of all parameters and buffers of the model, in the order in which the model lists them, even if this
  /// rank's blocks hold only a part of the parameters. Within a block the offsets ascend.
  std::vector<ArenaEntry> entries;
  /// The size in bytes of all parameters of the model together, including padding.
  std::uint64_t parameter_bytes = 0;
  /// Where this rank's part of the parameters begins, in bytes from the start of all parameters of the model. The
  /// rank's blocks "parameters" and "gradients" contain only this part. The part is smaller than `parameter_bytes` if
  /// the ranks divide the parameters or the optimizer's state among themselves; otherwise it contains all parameters.
  std::uint64_t shard_begin = 0;
  /// True if all ranks update the same parameters in turn and share the optimizer state of rank 0.
  bool shared_state = false;
  /// True if every rank has its own optimizer state, because each rank updates its parameters independently of the
  /// others.
  bool own_state = false;
  /// If the arena is in the memory of a device: the arena itself, for an optimizer in the same process. Null if the
  /// arena is in host memory, or if the strategy requires that the optimizer works on `blocks`. This pointer is not
  /// part of the serialized message, so it is always null in other processes.
  std::shared_ptr<devices::DeviceArena> device_arena;
  /// Set if the arena is in the memory of a device that other processes can open, and if an optimizer may work there.
  std::optional<SharedArena> shared;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(device), CEREAL_NVP(model), CEREAL_NVP(blocks), CEREAL_NVP(entries),
            CEREAL_NVP(parameter_bytes), CEREAL_NVP(shard_begin), CEREAL_NVP(shared_state), CEREAL_NVP(own_state),
            CEREAL_NVP(shared));
  }
};

/// The message that gives the checkpoint writer access to the optimizer's blocks. The checkpoint writer reads these
/// blocks to save them, and fills them in place when a run resumes.
///
/// The optimizer sends this message once, as soon as it has allocated its state, to the checkpoint writer and to the
/// accelerator host. The checkpoint records `rule` and `hyperparameters`.
struct OptimizerState {
  static constexpr const char* kTypeName = "OptimizerState";

  std::uint32_t rank = 0;
  std::string rule;  ///< The update rule, such as "adamw".
  /// Each block has the layout of this rank's part of the parameters (ArenaInfo::shard_begin).
  std::vector<ArenaBlock> blocks;
  /// The numeric hyperparameters, such as the learning rate, by name. They are only displayed and recorded in the
  /// checkpoint.
  std::map<std::string, double> hyperparameters;
  /// True if the optimizer is in a different process from the accelerator host and updates the parameters on the device
  /// (ArenaInfo::shared).
  bool on_device = false;
  /// The blocks of state on the device, one for each element of `blocks`, if `on_device` is true; otherwise empty. The
  /// accelerator host copies them to `blocks` before a checkpoint is saved, and back when a run resumes.
  std::vector<BlockHandle> device_blocks;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(rule), CEREAL_NVP(blocks), CEREAL_NVP(hyperparameters), CEREAL_NVP(on_device),
            CEREAL_NVP(device_blocks));
  }
};

/// The message that announces that a rank's accelerator host and optimizer are ready to train.
///
/// The accelerator host sends this message once, after it has received the message Parameters with step 0, and, if it
/// is connected to their senders, OptimizerState and RunState. The strategy manager sends no order before it has
/// received this message from every rank.
struct ModelInfo {
  static constexpr const char* kTypeName = "ModelInfo";

  std::uint32_t rank = 0;
  std::string model;
  std::string device;
  /// The precision of parameters and computation, such as "32-true" or "16-mixed". PyTorch Lightning uses the same
  /// names.
  std::string precision;
  /// The number of trainable values of the whole model, even if this rank holds only some of them.
  std::uint64_t parameters = 0;
  /// The size in bytes of this rank's arena, which holds its parameters, gradients and buffers. The optimizer's state
  /// is not included.
  std::uint64_t arena_bytes = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(rank), CEREAL_NVP(model), CEREAL_NVP(device), CEREAL_NVP(precision), CEREAL_NVP(parameters),
            CEREAL_NVP(arena_bytes));
  }
};

}  // namespace trainyard
