// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "messages/schema.h"

namespace trainyard::recordings {

/// Returns a JSON Schema that describes the messages of a recording. It uses only the features of JSON Schema that
/// viewers of MCAP files understand (docs/decisions/0024): it contains no references (`$ref`) and no alternatives
/// (`anyOf`), and it does not describe lists of lists. The result of to_json_schema() is more exact: it allows the
/// strings "NaN", "Infinity" and "-Infinity" for numbers, and null for optional fields. Throws kInvalidArgument if
/// `schema` has no structs.
std::string to_viewer_schema(const Schema& schema);

}  // namespace trainyard::recordings
