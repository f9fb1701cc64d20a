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

/// The place of a value in the messages of one type: names with dots between them, and the numbers of list elements in
/// brackets, such as "step" or "values[0].value". An entry of a map is named like a field. The fields of a tensor are
/// dtype, shape, payload and offset.
class FieldPath {
 public:
  /// Checks the path by the schema. Throws kInvalidArgument, with the nearest field, for a path that no message of the
  /// type can have.
  FieldPath(const Schema& schema, std::string_view path);

  /// Returns the path as it was given.
  const std::string& text() const { return text_; }

  /// Returns the type of the value. An optional value has the type of what it contains.
  const FieldType& type() const { return type_; }

  /// Returns the value in a message that json_from_binary() has decoded; null if this message does not have it, because
  /// a list is shorter, a map has no such key, or an optional is empty.
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
