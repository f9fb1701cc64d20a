// SPDX-License-Identifier: Apache-2.0
#include "accelerators/cuda/nvml.h"

#include <dlfcn.h>

namespace trainyard::cuda {
namespace {

// What follows is the part of nvml.h that is used here, as NVIDIA documents it in the NVML API reference. Every
// function returns 0 for success.
using Device = void*;
using Initialise = int();
using ShutDown = int();
using FindDevice = int(const char* bus_id, Device* device);
struct Utilisation {
  unsigned gpu;
  unsigned memory;
};
using GetUtilisation = int(Device, Utilisation*);
using GetTemperature = int(Device, int sensor, unsigned* celsius);
using GetPower = int(Device, unsigned* milliwatts);
struct Memory {
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};
using GetMemory = int(Device, Memory*);
constexpr int kSensorOfGpu = 0;

}  // namespace

template <class Function>
Function* Nvml::find(const char* name) const {
  return library_ == nullptr ? nullptr : reinterpret_cast<Function*>(::dlsym(library_, name));
}

Nvml::Nvml(const std::string& bus_id) {
  library_ = ::dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  auto* initialise = find<Initialise>("nvmlInit_v2");
  auto* find_device = find<FindDevice>("nvmlDeviceGetHandleByPciBusId_v2");
  if (initialise == nullptr || find_device == nullptr || initialise() != 0) {
    if (library_ != nullptr) ::dlclose(library_);
    library_ = nullptr;
    return;
  }
  if (find_device(bus_id.c_str(), &device_) != 0) device_ = nullptr;
}

Nvml::~Nvml() {
  if (library_ == nullptr) return;
  if (auto* shut_down = find<ShutDown>("nvmlShutdown")) shut_down();
  ::dlclose(library_);
}

std::map<std::string, double> Nvml::stats() const {
  std::map<std::string, double> stats;
  if (device_ == nullptr) return stats;
  if (auto* get = find<GetUtilisation>("nvmlDeviceGetUtilizationRates")) {
    if (Utilisation value{}; get(device_, &value) == 0) stats["utilisation_percent"] = value.gpu;
  }
  if (auto* get = find<GetTemperature>("nvmlDeviceGetTemperature")) {
    if (unsigned value = 0; get(device_, kSensorOfGpu, &value) == 0) stats["temperature_celsius"] = value;
  }
  if (auto* get = find<GetPower>("nvmlDeviceGetPowerUsage")) {
    if (unsigned value = 0; get(device_, &value) == 0) stats["power_watts"] = value / 1000.0;
  }
  if (auto* get = find<GetMemory>("nvmlDeviceGetMemoryInfo")) {
    if (Memory value{}; get(device_, &value) == 0) stats["device_memory_bytes"] = static_cast<double>(value.used);
  }
  return stats;
}

}  // namespace trainyard::cuda
