#pragma once

#include <cstdint>
#include <vector>

#include "launch/file/value.h"

namespace trainyard::launch {

/// What `devices = ...` asks for.
struct DeviceRequest {
  std::int64_t count = 0;             ///< How many ranks; 0 = this is no request.
  std::vector<std::int64_t> indices;  ///< Those that are named, if it is a list.
  bool automatic = false;             ///< "auto" or -1: as many as the accelerator sees fit; counted as one rank.
};

/// Reads a count, a list, "auto" or -1, also where they come as text: "[0, 1]" from the command line.
DeviceRequest read_device_request(const Value& devices);

}  // namespace trainyard::launch
