// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

namespace trainyard::cuda {

/// Measurements of a GPU by NVML, the library for monitoring that comes with NVIDIA's driver. The library is searched
/// for at run time; without it, there are no measurements.
class Nvml {
 public:
  /// `bus_id` is the address of the GPU on the PCI bus, such as "0000:65:00.0".
  explicit Nvml(const std::string& bus_id);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  /// Returns what the GPU can measure: "utilisation_percent", "temperature_celsius", "power_watts" and
  /// "device_memory_bytes". Takes a fraction of a millisecond.
  std::map<std::string, double> stats() const;

 private:
  template <class Function>
  Function* find(const char* name) const;

  void* library_ = nullptr;  ///< Null if NVML was not found.
  void* device_ = nullptr;   ///< Null if NVML does not know the GPU.
};

}  // namespace trainyard::cuda
