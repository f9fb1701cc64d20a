// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/gpu_fixture.h"

#include <dlfcn.h>

#include <array>

namespace trainyard::testing {

std::string bus_id_of_first_gpu() {
  void* driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (driver == nullptr) return "";
  auto* initialise = reinterpret_cast<int (*)(unsigned)>(::dlsym(driver, "cuInit"));
  auto* get_device = reinterpret_cast<int (*)(int* device, int ordinal)>(::dlsym(driver, "cuDeviceGet"));
  auto* get_bus_id =
      reinterpret_cast<int (*)(char* text, int size, int device)>(::dlsym(driver, "cuDeviceGetPCIBusId"));
  if (initialise == nullptr || get_device == nullptr || get_bus_id == nullptr || initialise(0) != 0) return "";
  int device = 0;
  std::array<char, 32> text{};
  const bool found = get_device(&device, 0) == 0 && get_bus_id(text.data(), static_cast<int>(text.size()), device) == 0;
  return found ? text.data() : "";
}

void GpuRunTest::SetUp() {
  if (bus_id_of_first_gpu().empty()) GTEST_SKIP() << "skipped: no device";
}

}  // namespace trainyard::testing
