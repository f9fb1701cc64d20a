#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/config/configurable.h"
#include "core/plugin/plugin.h"
#include "core/plugin/plugin_context.h"
#include "messages/buffer.h"

namespace trainyard {

using AcceleratorContext = PluginContext;

/// The published rules of a kind of hardware. A plan that breaks one is refused before anything starts, by its name.
struct AcceleratorTraits {
  std::vector<int> device_counts;       ///< Allowed numbers of devices; empty = any.
  std::vector<std::string> precisions;  ///< Supported: "32-true", "64-true", "bf16-mixed", ...
  bool static_graph_only = false;       ///< The step is traced once and may not branch afterwards.
  bool gradient_clipping = true;        ///< Gradients may be clipped between backward and step.

  /// Kernels work on host memory: the arena is shared with other processes as it is. False: the arena lives in memory
  /// of the device, and a mirror in host memory is what the others see.
  bool host_memory = true;

  /// There may be more ranks than devices, which then share them in turn. A list of devices still names each once.
  bool shared_devices = false;

  std::uint64_t memory_limit_bytes = 0;  ///< Arena and one batch must fit; 0 = as much as there is.
  std::string rules;                     ///< Whose rules these are, if not the accelerator's own: "ipu".

  /// Order in which accelerator = "auto" prefers those that are available: the highest wins. 0 = never taken by itself,
  /// because it only rehearses, or needs to be told what it stands for. The processor has 1, real devices more.
  int auto_rank = 50;
};

/// One kind of hardware. Everything above it is written without knowing which.
class Accelerator : public Configurable {
 public:
  static constexpr const char* kKind = "accelerator";
  using Context = AcceleratorContext;

  explicit Accelerator(AcceleratorContext& context)
      : Configurable(context.where, context.parameters), context_(context) {}

  /// Device indices for a request: a count ("2"), a list ("[0, 3]"), "auto" or "-1" (all). Throws kInvalidArgument or
  /// kNotFound with the number there are. Where devices are shared, a count may be larger: they come in turn.
  virtual std::vector<int> parse_devices(const std::string& request) const;

  virtual bool is_available() const = 0;

  /// Why it is not available, for people; empty if it is, or if there simply is no such device.
  virtual std::string problem() const { return ""; }

  virtual int device_count() const = 0;
  virtual AcceleratorTraits traits() const = 0;
  virtual at::Device device(int index) const = 0;

  /// What people call the device: "cuda:0". To be overridden where LibTorch has no name for it.
  virtual std::string device_name(int index) const { return device(index).str(); }

  /// Claims a device for this process and this thread; called once, before anything below.
  void claim(int index);

  /// The device that was claimed.
  at::Device claimed() const { return device(index_); }
  std::string claimed_name() const { return device_name(index_); }

  virtual void tear_down() {}

  // Random numbers. The defaults serve devices that draw from LibTorch's generator of the CPU.

  /// Seeds every generator that kernels of this device draw from.
  virtual void seed(std::uint64_t seed);

  /// State of those generators, to continue a run bit for bit; and its inverse, which throws kCorrupt for the state of
  /// other generators.
  virtual std::vector<std::uint8_t> rng_state() const;
  virtual void set_rng_state(const std::vector<std::uint8_t>& state);

  /// The tensors on the claimed device; structure and order are kept. Those already there are not copied. The sources
  /// may be overwritten as soon as this returns.
  virtual std::vector<at::Tensor> to_device(std::vector<at::Tensor> tensors) const;

  /// Copies one flat block between host and device; only for those with memory of their own. What comes to the host is
  /// complete on return; what goes to the device must be so for whatever is computed there later.
  virtual void copy_block(at::Tensor to, const at::Tensor& from) const { to.copy_(from); }

  /// Waits until everything submitted to the device is done.
  virtual void synchronize() {}

  /// Host memory for an arena block of `bytes`, zeroed and aligned to 64, which other processes can map.
  virtual Buffer allocate_arena(std::size_t bytes);

  /// Memory in use, utilisation and whatever else can be read, by name with unit: "memory_bytes",
  /// "utilisation_percent".
  virtual std::map<std::string, double> stats() const { return {}; }

  /// The traits in words; what the planner and `trainyard plugin info` know of an accelerator.
  std::map<std::string, std::string> facts() const override;

 protected:
  /// Sets up what kernels need: threads, streams, memory pools.
  virtual void set_up(int index) = 0;

  const AcceleratorContext& context() const { return context_; }

 private:
  AcceleratorContext context_;
  int index_ = 0;
};

}  // namespace trainyard

/// Registers an accelerator; the last line of its .cpp, inside no namespace.
#define TRAINYARD_ACCELERATOR(Class, name, description)                                                        \
  TRAINYARD_PLUGIN("accelerator", ::trainyard::Accelerator, ::trainyard::AcceleratorContext, Class, name, "1", \
                   description)
