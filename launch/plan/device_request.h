// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "launch/file/value.h"

namespace trainyard::launch {

/// The devices that `devices = ...` requests.
struct DeviceRequest {
  enum class Kind : std::uint8_t {
    kNone,       ///< This is not a request.
    kCount,      ///< So many ranks, on the devices from the first on.
    kIndices,    ///< A rank on each of the devices that are named.
    kAutomatic,  ///< "auto": one rank.
    kAll,        ///< -1: a rank on every device.
  };
  Kind kind = Kind::kNone;
  std::int64_t count = 0;             ///< The number of ranks; 0 if it is not known from the request alone.
  std::vector<std::int64_t> indices;  ///< The numbers of the devices, if the request is a list.
};

/// Reads a count, a list, "auto" or -1, even if it is text, such as "[0, 1]" from the command line.
DeviceRequest read_device_request(const Value& devices);

}  // namespace trainyard::launch
