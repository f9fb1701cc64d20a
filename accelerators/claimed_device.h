// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/plugin/plugin_context.h"
#include "devices/link_bytes.h"
#include "messages/buffer.h"
#include "tensors/mirrored_block.h"
#include "tensors/work_recorder.h"

namespace trainyard {

class Accelerator;

/// A device that this process has claimed with Accelerator::claim(). Only the thread that claimed the device may
/// compute on it. The destructor releases the device.
///
/// A derived class determines how tensors are copied to the device, which random generators its kernels use, and which
/// measurements it reports. Every virtual function has a default, so a derived class overrides only the functions whose
/// default does not suit its device. An override need not call the default.
///
/// Do not add functions for abilities that only some kinds of devices have. Define a separate interface for such an
/// ability, and a function through which a device returns it.
class ClaimedDevice {
 public:
  /// `device` identifies the device in LibTorch. `name` is shown to the user; if it is empty, LibTorch's name is used,
  /// such as "cuda:0". `accelerator` must outlive this object.
  ClaimedDevice(const Accelerator& accelerator, at::Device device, std::string name = "");
  virtual ~ClaimedDevice() = default;
  ClaimedDevice(const ClaimedDevice&) = delete;
  ClaimedDevice& operator=(const ClaimedDevice&) = delete;

  at::Device torch_device() const { return device_; }
  const std::string& name() const { return name_; }

  /// Returns the tensors of a batch on the device, in the same order. A tensor that is already on the device is
  /// returned as it is. Every other tensor is copied, and its original memory may be overwritten after the function has
  /// returned. If the accelerator compiles a graph for each combination of shapes
  /// (AcceleratorTraits::static_graph_only), the function logs a warning whenever a batch, except the first, has shapes
  /// that no earlier batch had.
  std::vector<at::Tensor> to_device(std::vector<at::Tensor> tensors);

  /// Copies `from`, one of the flat blocks that hold the parameters, gradients and buffers, to `to`. One of the two
  /// tensors is in host memory, the other on the device. Called only if the device has separate memory. When the
  /// function returns, a copy to the host must be complete. A copy to the device must be complete before any later
  /// computation on the device begins.
  virtual void copy_block(at::Tensor to, const at::Tensor& from) { to.copy_(from); }

  /// Returns this device as seen by its device plugin, a plugin that gives access to the memory and the streams of the
  /// device without LibTorch. Returns null, as the default does, if there is no device plugin. If there is one, the
  /// blocks with the parameters, gradients and buffers are in memory that the plugin has allocated and that an
  /// optimizer in another process can open; snapshots are copied while training goes on; and the plugin computes the
  /// updates. Otherwise, LibTorch allocates the blocks, and an update consists of LibTorch's operations.
  virtual const NativeDevice* native() const { return nullptr; }

  /// Returns the counter of the bytes that are copied between host memory and the memory of this device. It is the
  /// counter of the device plugin, if there is one. It is null if the device works on host memory
  /// (AcceleratorTraits::host_memory).
  std::shared_ptr<devices::LinkBytes> link_bytes() const;

  /// Begins to read the value of a tensor with one element, and returns a function that waits for the value and returns
  /// it. The returned function does not wait for work that is submitted after this call. A device that cannot do this
  /// returns an empty function, which is the default.
  virtual std::function<double()> read_later(const at::Tensor& /*scalar*/) { return {}; }

  /// Returns an object that records the work of training steps and repeats it, if the device can do this and the user
  /// wants it. Otherwise returns null, as the default does. The object is valid as long as this device object exists.
  virtual WorkRecorder* recorder() { return nullptr; }

  /// Waits until all work that was submitted to the device is done. The default does nothing, for devices that finish
  /// all work before a call returns.
  virtual void synchronize() {}

  /// Returns host memory for a block of parameters, gradients or buffers: `bytes` zeroed bytes, aligned to 64 bytes.
  /// Other processes can map this memory.
  Buffer allocate_host_block(std::size_t bytes);

  /// Prepares host memory that another component has allocated, for copies from and to the device. Memory from
  /// allocate_host_block() is already prepared.
  void prepare_for_copies(const Buffer& block) { prepare_host_block(block); }

  /// Gives `seed` to every random generator that kernels of this device use.
  void seed(std::uint64_t seed);

  /// Returns the state of the generators that seed() seeds, for a checkpoint. A run that restores this state continues
  /// with the same random numbers.
  std::vector<std::uint8_t> rng_state() const;

  /// Restores a state returned by rng_state(). Throws kCorrupt if the state is damaged, or if the number of generators
  /// in it or the sizes of their states do not match this device.
  void set_rng_state(const std::vector<std::uint8_t>& state);

  /// Returns measurements by name, such as the memory in use. Each name ends with the unit, as in "memory_bytes" or
  /// "utilisation_percent". The default returns none.
  virtual std::map<std::string, double> stats() const { return {}; }

 protected:
  /// Copies the tensors of one batch to the device. The default copies only tensors that are on another device, and
  /// waits for the copies; see accelerators::copies_on.
  virtual std::vector<at::Tensor> move_batch(std::vector<at::Tensor> tensors);

  /// Prepares memory that is often copied from or to the device, for instance by page-locking it so that copies are
  /// faster and do not wait for the processor. The default does nothing.
  virtual void prepare_host_block(const Buffer& /*block*/) {}

  /// Returns the random generators that kernels of this device use. The default is LibTorch's generator for the CPU. A
  /// device with its own generator returns this generator and the CPU's, because models draw their initial parameters
  /// on the CPU.
  virtual std::vector<at::Generator> generators() const;

  /// Returns the context of the accelerator. It contains the name of the accelerator for error messages, the log, the
  /// rank, the number of ranks, and more.
  const PluginContext& context() const;

 private:
  using Shapes = std::vector<std::vector<std::int64_t>>;
  void count_batch(const std::vector<at::Tensor>& tensors, devices::LinkBytes& link) const;
  void warn_of_new_shapes(const std::vector<at::Tensor>& tensors);

  const Accelerator& accelerator_;
  at::Device device_;
  std::string name_;
  bool static_graph_only_;
  std::shared_ptr<devices::LinkBytes> link_bytes_;  ///< Used if there is no device plugin.
  /// The combinations of tensor shapes that have occurred in batches. Used only if `static_graph_only_` is true.
  std::set<Shapes> shapes_;
};

namespace accelerators {

/// Returns `tensors` on `device`, in the same order. A tensor that is already there is returned as it is. Every other
/// tensor is copied, and the function waits for the copies.
std::vector<at::Tensor> copies_on(at::Device device, std::vector<at::Tensor> tensors);

}  // namespace accelerators
}  // namespace trainyard
