// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "messages/message_type.h"
#include "messages/schema.h"

namespace trainyard {

/// Converts a message from binary form to JSON. It needs only the schema; the type need not be compiled in.
/// Not-a-number and infinities become the strings "NaN", "Infinity" and "-Infinity". A tensor becomes its dtype, shape,
/// payload index (null if it has no payload) and offset. A negative `indent` gives one line. Throws kCorrupt.
std::string json_from_binary(const Schema& schema, std::span<const std::byte> body, int indent = -1);

/// Converts a message from JSON to binary form. Missing fields become zero or empty. Tensors cannot be given. Throws
/// kInvalidArgument with the path of the offending field.
std::string binary_from_json(const Schema& schema, std::string_view json);

/// Converts a message to JSON, without the bytes of its tensors. It goes through the binary form, so one piece of code
/// serves all types.
template <Message T>
std::string to_json(const T& message, int indent = -1) {
  std::string body;
  std::vector<Buffer> payloads;
  encode(message, body, payloads);
  return json_from_binary(SchemaBuilder::build<T>(), std::as_bytes(std::span(body)), indent);
}

/// Converts JSON to a message. Throws like binary_from_json.
template <Message T>
T from_json(std::string_view json) {
  const std::string body = binary_from_json(SchemaBuilder::build<T>(), json);
  T message;
  try {
    decode(message, std::as_bytes(std::span(body)));
  } catch (const Error& error) {
    // The form is right, so it is a word that stands for nothing; whoever gave the JSON has given that.
    throw Error(Code::kInvalidArgument, std::string(error.what()));
  }
  return message;
}

}  // namespace trainyard
