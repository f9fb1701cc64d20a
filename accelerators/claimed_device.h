#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "core/plugin/plugin_context.h"
#include "messages/buffer.h"

namespace trainyard {

class Accelerator;

/// One device that this process has claimed, and the thread that claimed it computes on. Its destructor lets go of the
/// device.
///
/// A class of this kind says how tensors come to the device, what random numbers its kernels draw, and what can be
/// measured. Every function has a default that serves a device which LibTorch knows, so a class overrides only what it
/// can do better. No function needs to call the default that it replaces.
///
/// What only some kinds of devices can do belongs into an interface of its own that a device returns if it has it, and
/// not into further functions here.
class ClaimedDevice {
 public:
  /// `device` is what LibTorch calls the device. `name` is what people call it; LibTorch's name is taken if it is
  /// empty. The accelerator must outlive the device.
  ClaimedDevice(const Accelerator& accelerator, at::Device device, std::string name = "");
  virtual ~ClaimedDevice() = default;
  ClaimedDevice(const ClaimedDevice&) = delete;
  ClaimedDevice& operator=(const ClaimedDevice&) = delete;

  at::Device torch_device() const { return device_; }
  const std::string& name() const { return name_; }

  /// Brings the tensors of a batch to the device; their order is kept. The sources may be overwritten as soon as this
  /// returns. Where the accelerator's graphs are static, a warning names every batch of a new shape.
  std::vector<at::Tensor> to_device(std::vector<at::Tensor> tensors);

  /// Copies one flat block between host and device; used only where the device has memory of its own. A block that
  /// comes to the host is complete on return. A block that goes to the device is complete for everything that is
  /// computed there later.
  virtual void copy_block(at::Tensor to, const at::Tensor& from) { to.copy_(from); }

  /// Waits until everything that was submitted to the device is done.
  virtual void synchronize() {}

  /// Host memory for a block of the arena: `bytes` zeroed bytes, aligned to 64, which other processes can map.
  Buffer allocate_host_block(std::size_t bytes);

  /// Seeds every generator that kernels of this device draw from.
  void seed(std::uint64_t seed);

  /// The state of those generators, with which a run continues bit for bit.
  std::vector<std::uint8_t> rng_state() const;

  /// Restores a state that rng_state returned. Throws kCorrupt for the state of other generators.
  void set_rng_state(const std::vector<std::uint8_t>& state);

  /// Memory in use, utilisation and whatever else can be measured, by name with the unit: "memory_bytes",
  /// "utilisation_percent".
  virtual std::map<std::string, double> stats() const { return {}; }

 protected:
  /// Moves the tensors of one batch. The default copies those that are elsewhere and waits for the copies, as
  /// accelerators::copies_on does.
  virtual std::vector<at::Tensor> move_batch(std::vector<at::Tensor> tensors);

  /// Is told of every block that allocate_host_block hands out, so that it can be page-locked.
  virtual void prepare_host_block(const Buffer& /*block*/) {}

  /// The generators that kernels of this device draw from. The default is LibTorch's generator for the CPU; a device
  /// with a generator of its own returns both, because models draw their first parameters on the CPU.
  virtual std::vector<at::Generator> generators() const;

  /// How errors and warnings name the accelerator, its log, the rank and the size of the world.
  const PluginContext& context() const;

 private:
  using Shapes = std::vector<std::vector<std::int64_t>>;
  void warn_of_new_shapes(const std::vector<at::Tensor>& tensors);

  const Accelerator& accelerator_;
  at::Device device_;
  std::string name_;
  bool static_graph_only_;
  std::set<Shapes> shapes_;  ///< The shapes of batches that a static graph has been compiled for.
};

namespace accelerators {

/// The tensors on `device`. A tensor that is there already is returned as it is; for the others this waits until they
/// have been copied.
std::vector<at::Tensor> copies_on(at::Device device, std::vector<at::Tensor> tensors);

}  // namespace accelerators
}  // namespace trainyard
