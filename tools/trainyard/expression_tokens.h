// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.h"

namespace trainyard::tools {

/// The kinds of tokens in an expression (see expression.h).
enum class TokenKind {
  kNumber,
  kString,    ///< A text; the token does not contain its quotation marks.
  kPath,      ///< The path of a field, such as values[0].value, or `true` or `false`.
  kOperator,  ///< An operator such as `==`, or one of the words `and`, `or`, `not` and `in`.
  kEnd,
};

/// A token of an expression, and the position at which it begins, counted from 0.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  std::size_t position = 0;
};

/// Splits an expression into tokens, the last of which is kEnd. Throws kInvalidArgument, with the position, for a
/// character that is not allowed in expressions, and for a text without a closing quotation mark.
std::vector<Token> tokens_of(std::string_view expression);

/// Returns an error with the text "--where, character N: WHAT", where WHAT is `what`. `position` is counted from 0, and
/// N from 1.
Error expression_error(std::size_t position, const std::string& what);

}  // namespace trainyard::tools
