// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace trainyard::launch {

/// Returns where two types of the same name differ, as the end of an error: "; they differ in the field 'loss' of
/// Metrics: f64 here, f32 there". `here` and `there` are schema texts. Returns an empty string if the types have
/// different names, if they are equal, or if one of the texts is not a schema.
std::string schema_difference(const std::string& here, const std::string& there);

}  // namespace trainyard::launch
