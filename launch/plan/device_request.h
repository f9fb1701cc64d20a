// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "launch/file/value.h"

namespace trainyard::launch {

/// The meaning of a value of `devices` in a launch file.
struct DeviceRequest {
  enum class Kind : std::uint8_t {
    kNone,       ///< The value is not a valid request.
    kCount,      ///< A number of ranks, which use the devices in order, starting with the first.
    kIndices,    ///< A list of device numbers, with a rank on each of these devices.
    kAutomatic,  ///< "auto": one rank.
    kAll,        ///< -1: a rank on every device.
  };
  Kind kind = Kind::kNone;
  std::int64_t count = 0;             ///< The number of ranks; 0 if the request alone does not determine it.
  std::vector<std::int64_t> indices;  ///< The numbers of the devices, for kIndices.
};

/// Interprets a value of `devices`: a count, a list, "auto" or -1. A text such as "[0, 1]", which comes from the
/// command line, is parsed first.
DeviceRequest read_device_request(const Value& devices);

}  // namespace trainyard::launch
