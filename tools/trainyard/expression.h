// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string_view>

#include "messages/schema.h"

namespace trainyard::tools {

/// A condition on the fields of a message, such as `step % 100 == 0 and stage == "train"`.
///
///    or and not                combine conditions
///    == != < <= > >= in        compare; `in` looks for an element of a list, or for a part of a text
///    + - * / %                 compute; % is the remainder of a division
///    12  0.5  "text"  'text'   true  false  ["a", "b"]  (...)
///
/// Everything is checked before the first message: the syntax, the fields by the schema, and the types. Evaluating a
/// condition cannot fail. Numbers are exact for all integers of 64 bits. A comparison with a value that a message does
/// not have (FieldPath::value_in) is false.
///
/// The text may come from a stranger: it has at most 1000 characters and 32 levels.
class Expression {
 public:
  /// Throws kInvalidArgument, with the position of the mistake, if the text is not a condition on messages with this
  /// schema.
  Expression(const Schema& schema, std::string_view text);

  /// Returns true if the message, which json_from_binary() has decoded, meets the condition.
  bool holds_for(const nlohmann::json& message) const { return condition_(message); }

 private:
  std::function<bool(const nlohmann::json&)> condition_;
};

}  // namespace trainyard::tools
