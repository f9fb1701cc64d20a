// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "launch/file/value.h"

namespace trainyard::launch {

/// A value that the launch file gives for a parameter.
struct GivenParameter {
  Value value;
  std::string key;  ///< The key in the file, such as "run.max_steps" for the parameter "max_steps".
};

/// The values given for one plugin, by the names of its parameters.
using Given = std::map<std::string, GivenParameter>;

}  // namespace trainyard::launch
