// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "messages/schema.h"

namespace trainyard {

/// Appends the message to `out` in the form of json_from_binary() on a single line. A recorder converts many messages
/// and keeps the memory of `out`. Throws kCorrupt if the body does not match the schema; `out` then ends with a part of
/// the message.
void append_json(const Schema& schema, std::span<const std::byte> body, std::string& out);

/// Converts JSON of the form of json_from_binary() back to the binary form. Unlike binary_from_json(), it also accepts
/// the descriptions of tensors. Throws kInvalidArgument in the same cases as binary_from_json().
std::string binary_from_recorded_json(const Schema& schema, const nlohmann::json& json);

}  // namespace trainyard
