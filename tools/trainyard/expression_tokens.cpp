// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/expression_tokens.h"

#include <algorithm>
#include <array>

namespace trainyard::tools {
namespace {

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
// The operators. Longer operators come first, so that "<=" is not read as "<".
constexpr std::array<std::string_view, 16> kSigns{"==", "!=", "<=", ">=", "<", ">", "+", "-",
                                                  "*",  "/",  "%",  "(",  ")", "[", "]", ","};
constexpr std::array<std::string_view, 4> kWordOperators{"and", "or", "not", "in"};

bool one_of(char c, std::string_view characters) { return characters.find(c) != characters.npos; }

/// Returns the length of the number at the beginning of `text`, such as 12, 0.5 or 1e-3.
std::size_t number_length(std::string_view text) {
  std::size_t length = std::min(text.find_first_not_of("0123456789."), text.size());
  if (length == text.size() || !one_of(text[length], "eE")) return length;
  std::size_t exponent = length + 1;
  if (exponent < text.size() && one_of(text[exponent], "+-")) ++exponent;
  if (exponent == text.size() || !one_of(text[exponent], kDigits)) return length;
  return std::min(text.find_first_not_of(kDigits, exponent), text.size());
}

/// Returns the length of the path at the beginning of `text`. A bracket belongs to the path if no space precedes it.
std::size_t path_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size()) {
    if (one_of(text[length], kLetters) || one_of(text[length], kDigits) || text[length] == '.') {
      ++length;
    } else if (text[length] == '[' && text.find(']', length) != text.npos) {
      length = text.find(']', length) + 1;
    } else {
      break;
    }
  }
  return length;
}

Token next_token(std::string_view rest, std::size_t position) {
  const auto token = [&](TokenKind kind, std::size_t length) {
    return Token{kind, std::string(rest.substr(0, length)), position};
  };
  if (one_of(rest.front(), kDigits)) return token(TokenKind::kNumber, number_length(rest));
  if (one_of(rest.front(), kLetters)) {
    Token word = token(TokenKind::kPath, path_length(rest));
    if (std::ranges::find(kWordOperators, word.text) != kWordOperators.end()) word.kind = TokenKind::kOperator;
    return word;
  }
  for (const std::string_view sign : kSigns) {
    if (rest.starts_with(sign)) return token(TokenKind::kOperator, sign.size());
  }
  if (rest.front() == '=') throw expression_error(position, "'=' compares nothing; '==' does");
  if (rest.starts_with("&&") || rest.starts_with("||") || rest.front() == '!') {
    throw expression_error(position, "the words 'and', 'or' and 'not' are used here");
  }
  throw expression_error(position, "'" + std::string(rest.substr(0, 1)) + "' is not part of the language");
}

}  // namespace

Error expression_error(std::size_t position, const std::string& what) {
  return {Code::kInvalidArgument, "--where, character {}: {}", position + 1, what};
}

std::vector<Token> tokens_of(std::string_view expression) {
  std::vector<Token> tokens;
  std::size_t at = expression.find_first_not_of(" \t\n");
  while (at != expression.npos && at < expression.size()) {
    const char quote = expression[at];
    std::size_t length = 0;
    if (one_of(quote, "'\"")) {
      const std::size_t end = expression.find(quote, at + 1);
      if (end == expression.npos) throw expression_error(at, "the text has no closing quote");
      tokens.push_back({TokenKind::kString, std::string(expression.substr(at + 1, end - at - 1)), at});
      length = end + 1 - at;
    } else {
      tokens.push_back(next_token(expression.substr(at), at));
      length = tokens.back().text.size();
    }
    at = expression.find_first_not_of(" \t\n", at + length);
  }
  tokens.push_back({TokenKind::kEnd, "the end", expression.size()});
  return tokens;
}

}  // namespace trainyard::tools
