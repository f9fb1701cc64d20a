// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <variant>
#include <vector>

#include "messages/schema.h"

namespace trainyard::tools {

/// The types of single values in the expressions of options such as `topic echo --where`.
enum class ValueType { kCondition, kNumber, kText };

/// The type of a part of an expression: one value, or a list of such values.
struct PartType {
  ValueType value = ValueType::kCondition;
  bool is_list = false;

  friend bool operator==(const PartType&, const PartType&) = default;
};

/// Returns the type in words for error messages, such as "a number" or "a list of texts".
std::string describe(const PartType& type);

/// A value during the evaluation of an expression, or std::monostate if the message does not have the value. Numbers
/// are long double, which represents every 64-bit integer exactly on the machines that Trainyard supports.
using SingleValue = std::variant<std::monostate, bool, long double, std::string>;
/// The value of a part of an expression: the elements of a list, or a single element if the part is not a list.
using PartValue = std::vector<SingleValue>;

/// Returns the type that a field of the schema type `type` has in expressions. Throws kInvalidArgument for a struct, a
/// map, a tensor or a list of lists, because they cannot be compared; the error message begins with the name `field`.
PartType part_type_of(const FieldType& type, const std::string& field);

/// Converts `value`, which comes from a decoded message, to a value of type `type`. Null becomes std::monostate.
PartValue part_value_of(const PartType& type, const nlohmann::json& value);

}  // namespace trainyard::tools
