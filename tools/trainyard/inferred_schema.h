// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "messages/schema.h"

namespace trainyard::tools {

/// Returns a message type for messages like `example`, which must be an object. Whole numbers become i64, other numbers
/// f64, and objects become structs that are named after their fields. A list has the type of its first element, or f64
/// if it consists of numbers that are not all whole.
///
/// Throws kInvalidArgument, with the path of the field, for null and for empty lists, whose types are unknown, and for
/// names that no field can have.
Schema infer_schema(const nlohmann::ordered_json& example, const std::string& type_name);

/// Returns a name for the type of a topic's messages: "SlowRank" for "/alerts/slow_rank".
std::string type_name_of(const std::string& topic);

}  // namespace trainyard::tools
