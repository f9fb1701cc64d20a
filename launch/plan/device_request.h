// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "launch/file/value.h"

namespace trainyard::launch {

/// The devices that `devices = ...` requests.
struct DeviceRequest {
  std::int64_t count = 0;             ///< The number of ranks; 0 if this is not a request.
  std::vector<std::int64_t> indices;  ///< The devices that are named, if it is a list.
  bool automatic = false;  ///< True for "auto" or -1: as many as the accelerator sees fit, which counts as one rank.
};

/// Reads a count, a list, "auto" or -1, even if it is text, such as "[0, 1]" from the command line.
DeviceRequest read_device_request(const Value& devices);

}  // namespace trainyard::launch
