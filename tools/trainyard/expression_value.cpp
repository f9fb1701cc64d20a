// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/expression_value.h"

#include <limits>
#include <optional>

#include "messages/error.h"

namespace trainyard::tools {
namespace {

using nlohmann::json;

std::optional<ValueType> value_type_of(FieldKind kind) {
  if (kind == FieldKind::kBool) return ValueType::kCondition;
  if (kind == FieldKind::kString) return ValueType::kText;
  if (kind < FieldKind::kString) return ValueType::kNumber;  // All kinds between these two are numbers.
  return std::nullopt;
}

/// Converts a number of a decoded message. json_from_binary() represents numbers that JSON cannot express, such as NaN,
/// as strings.
long double number_of(const json& value) {
  using Limits = std::numeric_limits<long double>;
  if (value.is_number_unsigned()) return static_cast<long double>(value.get<std::uint64_t>());
  if (value.is_number_integer()) return static_cast<long double>(value.get<std::int64_t>());
  if (value.is_number()) return static_cast<long double>(value.get<double>());
  if (value == "Infinity") return Limits::infinity();
  return value == "-Infinity" ? -Limits::infinity() : Limits::quiet_NaN();
}

SingleValue single_value_of(ValueType type, const json& value) {
  if (value.is_null()) return std::monostate();
  if (type == ValueType::kCondition) return value.get<bool>();
  if (type == ValueType::kText) return value.get<std::string>();
  return number_of(value);
}

}  // namespace

std::string describe(const PartType& type) {
  switch (type.value) {
    case ValueType::kCondition:
      return type.is_list ? "a list of conditions" : "a condition";
    case ValueType::kNumber:
      return type.is_list ? "a list of numbers" : "a number";
    case ValueType::kText:
      return type.is_list ? "a list of texts" : "a text";
  }
  return "";
}

PartType part_type_of(const FieldType& type, const std::string& field) {
  const bool is_list = type.kind == FieldKind::kList;
  const auto value = value_type_of(is_list ? type.element.at(0).kind : type.kind);
  if (value) return {*value, is_list};
  throw Error(Code::kInvalidArgument, "'{}' is a {}, which cannot be compared{}", field, to_text(type),
              is_list ? fmt::format("; the first element is {}[0]", field) : "; name one of its fields");
}

PartValue part_value_of(const PartType& type, const json& value) {
  if (!type.is_list) return {single_value_of(type.value, value)};
  PartValue elements;
  for (const json& element : value) elements.push_back(single_value_of(type.value, element));
  return elements;
}

}  // namespace trainyard::tools
