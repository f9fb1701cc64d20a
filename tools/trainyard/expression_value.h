// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "messages/schema.h"

namespace trainyard::tools {

/// The types of the language of expressions.
enum class ValueType { kCondition, kNumber, kText };

/// The type of a part of an expression: one value, or a list of such values.
struct PartType {
  ValueType value = ValueType::kCondition;
  bool is_list = false;

  friend bool operator==(const PartType&, const PartType&) = default;
};

/// Returns the type as a word of an error: "a number", "a list of texts".
std::string describe(const PartType& type);

/// A value while an expression is evaluated; std::monostate if the message does not have it. A long double holds every
/// integer of 64 bits exactly on the machines that Trainyard supports.
using SingleValue = std::variant<std::monostate, bool, long double, std::string>;
/// The elements of a list. A part that is not a list has one element.
using PartValue = std::vector<SingleValue>;

/// Returns the type that a field has in expressions. Throws kInvalidArgument, beginning with `field`, for a struct, a
/// map, a tensor or a list of lists, which cannot be compared.
PartType part_type_of(const FieldType& type, const std::string& field);

/// Converts a value of a decoded message.
PartValue part_value_of(const PartType& type, const nlohmann::json& value);

}  // namespace trainyard::tools
