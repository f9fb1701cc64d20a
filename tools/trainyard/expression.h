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
/// The constructor checks everything: the syntax, whether messages of the schema have the fields, and the types.
/// Evaluating a condition therefore cannot fail. All 64-bit integers are represented exactly. A comparison is false if
/// the message lacks one of the values to be compared, for example because a list is too short (FieldPath::value_in).
///
/// The text may come from an untrusted source, so it is limited to 1000 characters and 32 levels of nesting.
class Expression {
 public:
  /// Throws kInvalidArgument, with the position of the mistake, if the text is not a valid condition for messages of
  /// this schema.
  Expression(const Schema& schema, std::string_view text);

  /// Returns true if the message, which json_from_binary() has decoded, meets the condition.
  bool holds_for(const nlohmann::json& message) const { return condition_(message); }

 private:
  std::function<bool(const nlohmann::json&)> condition_;
};

}  // namespace trainyard::tools
