// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "messages/error.h"

namespace trainyard::tools {

/// The kinds of tokens in an expression.
enum class TokenKind {
  kNumber,
  kString,    ///< A text, without its quotes.
  kPath,      ///< The path of a field, such as values[0].value, or `true` or `false`.
  kOperator,  ///< An operator sign, or one of the words and, or, not, in.
  kEnd,
};

/// A token of an expression, and the position at which it begins.
struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  std::size_t position = 0;
};

/// Divides an expression into tokens; the last one is kEnd. Throws kInvalidArgument, with the position, for characters
/// that no expression has.
std::vector<Token> tokens_of(std::string_view expression);

/// Returns an error about the expression at a position: "--where, character 8: ...".
Error expression_error(std::size_t position, const std::string& what);

}  // namespace trainyard::tools
