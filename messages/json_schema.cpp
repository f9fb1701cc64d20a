// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>

#include "messages/error.h"
#include "messages/schema.h"

namespace trainyard {
namespace {

using OrderedJson = nlohmann::ordered_json;

/// Returns the schema of an integer. It contains the bounds of T, so that a validator rejects a number that does not
/// fit into the field.
template <class T>
OrderedJson integer() {
  return {{"type", "integer"}, {"minimum", std::numeric_limits<T>::min()}, {"maximum", std::numeric_limits<T>::max()}};
}

/// Returns the schema of a number. NaN and infinities are strings, because JSON cannot represent them as numbers.
OrderedJson number() { return {{"anyOf", {{{"type", "number"}}, {{"enum", {"NaN", "Infinity", "-Infinity"}}}}}}; }

/// Returns the schema of a tensor. The JSON of a tensor says in which payload its bytes are, but does not contain them
/// (json_from_binary).
OrderedJson tensor() {
  const OrderedJson count = {{"type", "integer"}, {"minimum", 0}};
  const OrderedJson index = {{"type", {"integer", "null"}}, {"minimum", 0}};
  OrderedJson made = {{"type", "object"}};
  made["properties"] = {{"dtype", {{"type", "string"}}},
                        {"shape", {{"type", "array"}, {"items", count}}},
                        {"payload", index},
                        {"offset", count}};
  made["required"] = {"dtype", "shape", "payload", "offset"};
  return made;
}

/// The kinds that refer to no other type.
OrderedJson describe_simple(FieldKind kind) {
  switch (kind) {
    case FieldKind::kBool:
      return {{"type", "boolean"}};
    case FieldKind::kI8:
      return integer<std::int8_t>();
    case FieldKind::kI16:
      return integer<std::int16_t>();
    case FieldKind::kI32:
      return integer<std::int32_t>();
    case FieldKind::kI64:
      return integer<std::int64_t>();
    case FieldKind::kU8:
      return integer<std::uint8_t>();
    case FieldKind::kU16:
      return integer<std::uint16_t>();
    case FieldKind::kU32:
      return integer<std::uint32_t>();
    case FieldKind::kU64:
      return integer<std::uint64_t>();
    case FieldKind::kF32:
    case FieldKind::kF64:
      return number();
    case FieldKind::kString:
      return {{"type", "string"}};
    default:
      return tensor();
  }
}

/// A struct becomes a reference ($ref), so only lists, maps and optionals lead to recursion.
OrderedJson describe(const Schema& schema, const FieldType& type) {
  switch (type.kind) {
    case FieldKind::kList:
      return {{"type", "array"}, {"items", describe(schema, type.element.at(0))}};
    case FieldKind::kMap:
      return {{"type", "object"}, {"additionalProperties", describe(schema, type.element.at(0))}};
    case FieldKind::kOptional:
      return {{"anyOf", {describe(schema, type.element.at(0)), {{"type", "null"}}}}};
    case FieldKind::kStruct:
      return {{"$ref", type.struct_name == schema.structs.at(0).name ? "#" : "#/$defs/" + type.struct_name}};
    default:
      return describe_simple(type.kind);
  }
}

/// Every field is required and no other field is allowed, as in the output of json_from_binary(). binary_from_json() is
/// less strict: it also accepts an object in which fields are missing.
void describe_struct(const Schema& schema, const StructType& type, OrderedJson& into) {
  into["title"] = type.name;
  into["type"] = "object";
  into["properties"] = OrderedJson::object();
  into["required"] = OrderedJson::array();
  for (const Field& field : type.fields) {
    into["properties"][field.name] = describe(schema, field.type);
    into["required"].push_back(field.name);
  }
  into["additionalProperties"] = false;
}

}  // namespace

// The message itself stands at the root, not behind a $ref, because viewers look for an object there.
std::string to_json_schema(const Schema& schema) {
  const StructType& message = schema.message();
  OrderedJson root = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}};
  describe_struct(schema, message, root);
  for (std::size_t i = 1; i < schema.structs.size(); ++i) {
    describe_struct(schema, schema.structs[i], root["$defs"][schema.structs[i].name]);
  }
  return root.dump(2);
}

}  // namespace trainyard
