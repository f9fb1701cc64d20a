// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "core/transport/run_keys.h"

namespace trainyard::launch {

/// The environment variable that names the key file if the launch file names none.
inline constexpr const char* kKeyFileVariable = "TRAINYARD_KEY_FILE";

/// Returns the path of the file that contains the key that all hosts of a run share. `given` is the value of
/// `topology.key_file`. If it is empty, the file is the one that the variable TRAINYARD_KEY_FILE names, or else the key
/// `host` in the user's key folder (docs/keys.md). The file need not exist.
std::string find_host_key(const std::string& given);

/// Reads the key that authenticates the hosts of a run to each other. All hosts share this one key, which has the role
/// `member`. Throws kNotFound if there is no such file, kInvalidArgument if the key has another role, and whatever
/// core::read_key_file() throws, for instance if other users can read the file. No error contains the key.
core::RunKeys read_host_key(const std::string& file);

}  // namespace trainyard::launch
