// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "messages/schema.h"

namespace trainyard::recordings {

/// Describes messages of a recording as JSON Schema, in the part of JSON Schema that viewers of MCAP files understand
/// (decision 24): no references, no alternatives and no lists of lists. to_json_schema() is more exact: it allows the
/// strings "NaN", "Infinity" and "-Infinity" for numbers, and null for optional fields. A list of lists is not
/// described. Throws kInvalidArgument for a schema without structs.
std::string to_viewer_schema(const Schema& schema);

}  // namespace trainyard::recordings
