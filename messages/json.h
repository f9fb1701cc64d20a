#pragma once

#include <span>
#include <string>
#include <string_view>

#include "messages/message_type.h"
#include "messages/schema.h"

namespace trainyard {

/// A message in binary form as JSON, by its schema alone: the type need not be compiled in. Not-a-number and infinities
/// become the strings "NaN", "Infinity" and "-Infinity"; a tensor becomes its dtype, shape, payload index
/// (null = none) and offset.
/// Throws kCorrupt. `indent` < 0 gives one line.
std::string json_from_binary(const Schema& schema, std::span<const std::byte> body, int indent = -1);

/// The binary form of a message given as JSON; missing fields get their zero. Throws kInvalidArgument with the path of
/// the offending field. Tensors cannot be given.
std::string binary_from_json(const Schema& schema, std::string_view json);

/// A message as JSON; the tensors' bytes are not in it. By way of the binary form, so there is one code for all types.
template <Message T>
std::string to_json(const T& message, int indent = -1) {
  std::string body;
  std::vector<Buffer> payloads;
  encode(message, body, payloads);
  return json_from_binary(SchemaBuilder::build<T>(), std::as_bytes(std::span(body)), indent);
}

/// The message that JSON describes; throws like binary_from_json.
template <Message T>
T from_json(std::string_view json) {
  const std::string body = binary_from_json(SchemaBuilder::build<T>(), json);
  T message;
  decode(message, std::as_bytes(std::span(body)));
  return message;
}

}  // namespace trainyard
