// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "messages/schema.h"

namespace trainyard::tools {

/// Returns a schema of the message type `type_name` for messages like `example`, which must be a JSON object. Whole
/// numbers get the type i64, and other numbers f64. Nested objects become structs, which are named after the field that
/// contains them. The elements of a list get the type of the first element, or f64 if they are numbers and at least one
/// of them is not whole.
///
/// Throws kInvalidArgument, with the path of the field, for null, empty lists and empty nested objects, whose types are
/// unknown, and for names that are not valid for fields.
Schema infer_schema(const nlohmann::ordered_json& example, const std::string& type_name);

/// Derives a name for a message type from a topic: "SlowRank" for "/alerts/slow_rank".
std::string type_name_of(const std::string& topic);

}  // namespace trainyard::tools
