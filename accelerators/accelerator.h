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
  bool host_memory = true;              ///< Device memory is host memory: the arena can be shared with other processes.
};

/// One kind of hardware. Everything above it is written without knowing which.
class Accelerator : public Configurable {
 public:
  static constexpr const char* kKind = "accelerator";
  using Context = AcceleratorContext;

  explicit Accelerator(AcceleratorContext& context)
      : Configurable(context.where, context.parameters), context_(context) {}

  /// Device indices for a request: a count ("2"), a list ("[0, 3]"), "auto" or "-1" (all). Throws kInvalidArgument or
  /// kNotFound with the number there are.
  virtual std::vector<int> parse_devices(const std::string& request) const;

  virtual bool is_available() const = 0;
  virtual int device_count() const = 0;
  virtual AcceleratorTraits traits() const = 0;
  virtual at::Device device(int index) const = 0;

  /// Claims the device for this process and this thread: threads, streams, memory pools.
  virtual void set_up(int index) = 0;
  virtual void tear_down() {}

  /// Seeds every generator that kernels of this device draw from.
  virtual void seed(std::uint64_t seed) = 0;

  /// State of those generators, to continue a run bit for bit; and its inverse.
  virtual std::vector<std::uint8_t> rng_state() const = 0;
  virtual void set_rng_state(const std::vector<std::uint8_t>& state) = 0;

  /// The tensors on the device; structure and order are kept. Those already there are not copied.
  virtual std::vector<at::Tensor> to_device(std::vector<at::Tensor> tensors) const;

  /// Waits until everything submitted to the device is done.
  virtual void synchronize() {}

  /// Memory for an arena block of `bytes`, zeroed and aligned to 64.
  virtual Buffer allocate_arena(std::size_t bytes);

  /// Memory in use, utilisation and whatever else can be read, by name with unit: "memory_bytes",
  /// "utilisation_percent".
  virtual std::map<std::string, double> stats() const { return {}; }

  std::map<std::string, std::string> facts() const override;

 protected:
  const AcceleratorContext& context() const { return context_; }

 private:
  AcceleratorContext context_;
};

}  // namespace trainyard

/// Registers an accelerator; the last line of its .cpp, inside no namespace.
#define TRAINYARD_ACCELERATOR(Class, name, description)                                                        \
  TRAINYARD_PLUGIN("accelerator", ::trainyard::Accelerator, ::trainyard::AcceleratorContext, Class, name, "1", \
                   description)
