// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "messages/message_type.h"
#include "messages/schema.h"

namespace trainyard {

/// Converts a message from binary form to JSON. Only the schema is needed; the C++ type need not be compiled in. NaN
/// and infinities become the strings "NaN", "Infinity" and "-Infinity". A tensor becomes its dtype, shape, payload
/// index (null if it has no payload) and offset. Each level is indented by `indent` spaces; if `indent` is negative,
/// the JSON is a single line. Throws kCorrupt if the body does not match the schema.
std::string json_from_binary(const Schema& schema, std::span<const std::byte> body, int indent = -1);

/// Converts a message from JSON to binary form. Fields that are missing or null become zero or empty. A field that is a
/// tensor must be missing or null. Throws kInvalidArgument if the text is not JSON, contains a field that the schema
/// does not have, or contains a value that does not fit its field. The error contains the path of the field.
std::string binary_from_json(const Schema& schema, std::string_view json);

/// Converts a message to JSON, without the bytes of its tensors. The form of the JSON and `indent` are explained at
/// json_from_binary(). Throws kInvalidArgument if the wire format cannot carry the message.
template <Message T>
std::string to_json(const T& message, int indent = -1) {
  std::string body;
  std::vector<Buffer> payloads;
  encode(message, body, payloads);
  return json_from_binary(SchemaBuilder::build<T>(), std::as_bytes(std::span(body)), indent);
}

/// Converts JSON to a message. Throws kInvalidArgument in the same cases as binary_from_json(), and if the word of an
/// enumeration is unknown or missing.
template <Message T>
T from_json(std::string_view json) {
  const std::string body = binary_from_json(SchemaBuilder::build<T>(), json);
  T message;
  try {
    decode(message, std::as_bytes(std::span(body)));
  } catch (const Error& error) {
    // binary_from_json() has made the body, so it is well formed. The only possible error is an unknown word of an
    // enumeration in the JSON, which is the caller's mistake.
    throw Error(Code::kInvalidArgument, std::string(error.what()));
  }
  return message;
}

}  // namespace trainyard
