// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "messages/schema.h"

namespace trainyard {

/// Converts a message from binary form to JSON, as json_from_binary() does, and appends the JSON to `out` as a single
/// line. A caller that converts many messages can reuse the memory of `out`. Throws kCorrupt if the body does not match
/// the schema; `out` then ends with a part of the message.
void append_json(const Schema& schema, std::span<const std::byte> body, std::string& out);

/// Converts the JSON of a message back to the binary form. Unlike binary_from_json(), this function also accepts the
/// descriptions of tensors that json_from_binary() and append_json() write. These do not contain the bytes of the
/// tensors; the caller must supply them beside the result, as the payloads of the message. Throws kInvalidArgument if
/// the JSON contains a field that the schema does not have, or a value that does not fit its field.
std::string binary_from_recorded_json(const Schema& schema, const nlohmann::json& json);

}  // namespace trainyard
