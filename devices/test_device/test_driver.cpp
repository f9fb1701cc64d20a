// SPDX-License-Identifier: Apache-2.0
#include "devices/test_device/test_driver.h"

#include <charconv>

#include "messages/error.h"
#include "messages/printable.h"

namespace trainyard::test_device {

std::unique_ptr<devices::Device> TestDriver::open(const std::string& uuid) {
  int index = -1;
  const auto [end, error] = std::from_chars(uuid.data(), uuid.data() + uuid.size(), index);
  if (error != std::errc() || end != uuid.data() + uuid.size() || index < 0 || index >= kDevices) {
    throw Error(Code::kNotFound, "{}: there is no device '{}'; there are 0 to {}", where(), printable(uuid),
                kDevices - 1);
  }
  return std::make_unique<TestDevice>(Options{.index = index,
                                              .memory_bytes = static_cast<std::size_t>(*memory_bytes_),
                                              .link_gb_per_s = *link_gb_per_s_,
                                              .latency_us = *latency_us_});
}

}  // namespace trainyard::test_device

TRAINYARD_DEVICE(trainyard::test_device::TestDriver, "test_device", "A device without hardware, for tests.")
