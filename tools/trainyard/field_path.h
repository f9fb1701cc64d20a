// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "messages/schema.h"

namespace trainyard::tools {

/// The path to a value in the messages of one type, such as "step" or "values[0].value". The path consists of names
/// separated by dots, and of list indices in brackets. The key of a map entry is written like the name of a field. A
/// tensor has the fields dtype, shape, payload and offset.
class FieldPath {
 public:
  /// Checks the path against the schema of the message type. Throws kInvalidArgument if messages of this type cannot
  /// have such a value; the error message suggests the field with the most similar name.
  FieldPath(const Schema& schema, std::string_view path);

  /// Returns the path as it was passed to the constructor.
  const std::string& text() const { return text_; }

  /// Returns the type of the value. For an optional value, this is the type of the contained value.
  const FieldType& type() const { return type_; }

  /// Returns the value in a message that json_from_binary() has decoded. Returns null if this message does not have the
  /// value because a list is too short, a map does not contain the key, or an optional is empty.
  const nlohmann::json& value_in(const nlohmann::json& message) const;

 private:
  void enter(const Schema& schema, std::string_view name);
  void index(std::string_view digits);
  [[noreturn]] void fail(std::size_t position, const std::string& why) const;

  std::string text_;
  FieldType type_;
  std::vector<std::variant<std::string, std::size_t>> steps_;
};

}  // namespace trainyard::tools
