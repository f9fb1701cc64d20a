// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "tools/trainyard/expression_tokens.h"
#include "tools/trainyard/expression_value.h"
#include "tools/trainyard/field_path.h"

namespace trainyard::tools {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxExpressionLength = 1000;
constexpr int kMaxExpressionDepth = 32;

/// A part of an expression that has been parsed and whose types have been checked.
struct Part {
  PartType type;
  std::size_t position = 0;  ///< The position of its first character.
  std::function<PartValue(const json& message)> value;
};

/// Compares two values of the same type.
bool compare(const std::string& sign, const SingleValue& left, const SingleValue& right) {
  if (left.index() == 0 || right.index() == 0) return false;
  if (sign == "==") return left == right;
  if (sign == "!=") return left != right;
  if (sign == "<") return left < right;
  if (sign == "<=") return left <= right;
  if (sign == ">") return left > right;
  return left >= right;
}

bool is_in(const SingleValue& element, const PartValue& list) {
  return element.index() != 0 && std::ranges::find(list, element) != list.end();
}

bool is_part_of(const SingleValue& part, const SingleValue& text) {
  if (part.index() == 0 || text.index() == 0) return false;
  return std::get<std::string>(text).find(std::get<std::string>(part)) != std::string::npos;
}

SingleValue compute(const std::string& sign, const SingleValue& left, const SingleValue& right) {
  if (left.index() == 0 || right.index() == 0) return std::monostate();
  const long double a = std::get<long double>(left);
  const long double b = std::get<long double>(right);
  if (sign == "+") return a + b;
  if (sign == "-") return a - b;
  if (sign == "*") return a * b;
  // A division by zero gives an infinity or NaN, which is not an error.
  return sign == "/" ? a / b : std::fmod(a, b);
}

/// A recursive-descent parser for expressions. There is one function for each level of precedence, beginning with the
/// operators that bind least.
class Parser {
 public:
  Parser(const Schema& schema, std::string_view text) : schema_(schema), tokens_(tokens_of(text)) {}

  Part parse() {
    Part part = disjunction();
    if (token().kind != TokenKind::kEnd) fail(fmt::format("'{}' was not expected here", token().text));
    return expect(std::move(part), {ValueType::kCondition}, "the whole expression");
  }

 private:
  Part disjunction() {
    if (++depth_ > kMaxExpressionDepth) fail(fmt::format("nested more than {} levels deep", kMaxExpressionDepth));
    Part part = condition_with("or", &Parser::conjunction, [](bool left, bool right) { return left || right; });
    --depth_;
    return part;
  }

  Part conjunction() {
    return condition_with("and", &Parser::negation, [](bool left, bool right) { return left && right; });
  }

  Part condition_with(const std::string& word, Part (Parser::*next)(), bool (*combine)(bool, bool)) {
    Part left = (this->*next)();
    while (token().kind == TokenKind::kOperator && token().text == word) {
      left = expect(std::move(left), {ValueType::kCondition}, "the left side of '" + word + "'");
      ++at_;
      Part right = expect((this->*next)(), {ValueType::kCondition}, "the right side of '" + word + "'");
      left.value = [a = std::move(left.value), b = std::move(right.value), combine](const json& message) -> PartValue {
        return {combine(is_true(a(message)), is_true(b(message)))};
      };
    }
    return left;
  }

  Part negation() {
    if (!takes({"not"})) return comparison();
    const std::size_t position = token().position;
    ++at_;
    if (++depth_ > kMaxExpressionDepth) fail(fmt::format("nested more than {} levels deep", kMaxExpressionDepth));
    Part part = expect(negation(), {ValueType::kCondition}, "what follows 'not'");
    --depth_;
    part.position = position;
    part.value = [a = std::move(part.value)](const json& message) -> PartValue { return {!is_true(a(message))}; };
    return part;
  }

  Part comparison() {
    Part left = sum();
    if (!takes({"==", "!=", "<", "<=", ">", ">=", "in", "not"})) return left;
    const Token sign = token();
    ++at_;
    if (sign.text == "in") return membership(std::move(left), sign, false);
    if (sign.text == "not") {
      if (!takes({"in"})) fail("'in' is needed after 'not'");
      ++at_;
      return membership(std::move(left), sign, true);
    }
    Part right = sum();
    if (left.type != right.type || left.type.is_list) {
      throw expression_error(sign.position, fmt::format("{} cannot be compared with {} by '{}'", describe(left.type),
                                                        describe(right.type), sign.text));
    }
    left.type = {ValueType::kCondition};
    left.value = [a = std::move(left.value), b = std::move(right.value), sign = sign.text](
                     const json& message) -> PartValue { return {compare(sign, a(message)[0], b(message)[0])}; };
    return left;
  }

  Part membership(Part left, const Token& sign, bool negated) {
    Part right = sum();
    const bool in_text = left.type == PartType{ValueType::kText} && right.type == left.type;
    const bool in_list = !left.type.is_list && right.type == PartType{left.type.value, true};
    if (!in_text && !in_list) {
      throw expression_error(sign.position,
                             fmt::format("{} cannot be in {}", describe(left.type), describe(right.type)));
    }
    left.type = {ValueType::kCondition};
    left.value = [a = std::move(left.value), b = std::move(right.value), in_text,
                  negated](const json& message) -> PartValue {
      const PartValue element = a(message);
      // Like every comparison, `in` is false if the value is missing.
      if (element[0].index() == 0) return {false};
      const PartValue list = b(message);
      return {(in_text ? is_part_of(element[0], list[0]) : is_in(element[0], list)) != negated};
    };
    return left;
  }

  Part sum() { return arithmetic({"+", "-"}, &Parser::product); }
  Part product() { return arithmetic({"*", "/", "%"}, &Parser::negative); }

  Part arithmetic(std::initializer_list<std::string_view> signs, Part (Parser::*next)()) {
    Part left = (this->*next)();
    while (takes(signs)) {
      const std::string sign = token().text;
      left = expect(std::move(left), {ValueType::kNumber}, "the left side of '" + sign + "'");
      ++at_;
      Part right = expect((this->*next)(), {ValueType::kNumber}, "the right side of '" + sign + "'");
      left.value = [a = std::move(left.value), b = std::move(right.value), sign](const json& message) -> PartValue {
        return {compute(sign, a(message)[0], b(message)[0])};
      };
    }
    return left;
  }

  Part negative() {
    if (!takes({"-"})) return primary();
    const std::size_t position = token().position;
    ++at_;
    if (++depth_ > kMaxExpressionDepth) fail(fmt::format("nested more than {} levels deep", kMaxExpressionDepth));
    Part part = expect(negative(), {ValueType::kNumber}, "what follows '-'");
    --depth_;
    part.position = position;
    part.value = [a = std::move(part.value)](const json& message) -> PartValue {
      return {compute("-", 0.0L, a(message)[0])};
    };
    return part;
  }

  Part primary() {
    const Token word = token();
    ++at_;
    if (word.kind == TokenKind::kNumber) return constant(word.position, ValueType::kNumber, number(word));
    if (word.kind == TokenKind::kString) return constant(word.position, ValueType::kText, word.text);
    if (word.text == "true" || word.text == "false") {
      return constant(word.position, ValueType::kCondition, word.text == "true");
    }
    if (word.kind == TokenKind::kPath) return field(word);
    if (word.text == "[") return list(word.position);
    if (word.text == "(") {
      Part inner = disjunction();
      if (token().text != ")") fail("')' is needed");
      ++at_;
      return inner;
    }
    throw expression_error(word.position,
                           fmt::format("a value is needed; there is {}{}{}", word.kind == TokenKind::kEnd ? "" : "'",
                                       word.text, word.kind == TokenKind::kEnd ? "" : "'"));
  }

  Part field(const Token& word) const {
    try {
      FieldPath path(schema_, word.text);
      const PartType type = part_type_of(path.type(), word.text);
      return {type, word.position, [path = std::move(path), type](const json& message) {
                return part_value_of(type, path.value_in(message));
              }};
    } catch (const Error& error) {
      throw expression_error(word.position, error.what());
    }
  }

  /// Parses a list of constants, which must all have the same type.
  Part list(std::size_t position) {
    PartValue elements;
    std::optional<ValueType> type;
    while (token().text != "]") {
      if (!elements.empty()) {
        if (token().text != ",") fail("',' or ']' is needed");
        ++at_;
      }
      if (++depth_ > kMaxExpressionDepth) fail(fmt::format("nested more than {} levels deep", kMaxExpressionDepth));
      const bool is_constant = takes({"-"}) || token().kind == TokenKind::kNumber ||
                               token().kind == TokenKind::kString || token().text == "true" || token().text == "false";
      if (!is_constant) fail("an element of a list is a number, a text, true or false");
      const Part element = expect(negative(), {type.value_or(type_here())}, "an element of this list");
      --depth_;
      type = element.type.value;
      elements.push_back(element.value(json())[0]);
    }
    if (!type) fail("an empty list contains nothing");
    ++at_;
    return {{*type, true}, position, [elements](const json&) { return elements; }};
  }

  /// Returns the type of the constant that begins at the current token.
  ValueType type_here() const {
    if (token().kind == TokenKind::kString) return ValueType::kText;
    return token().kind == TokenKind::kPath ? ValueType::kCondition : ValueType::kNumber;
  }

  static Part constant(std::size_t position, ValueType type, SingleValue value) {
    return {{type}, position, [value = std::move(value)](const json&) -> PartValue { return {value}; }};
  }

  static long double number(const Token& word) {
    long double value = 0;
    const char* end = word.text.data() + word.text.size();
    const auto [stopped, error] = std::from_chars(word.text.data(), end, value);
    if (error != std::errc() || stopped != end) {
      throw expression_error(word.position, fmt::format("'{}' is not a number", word.text));
    }
    return value;
  }

  static bool is_true(const PartValue& value) {
    const bool* condition = std::get_if<bool>(&value[0]);
    return condition != nullptr && *condition;
  }

  static Part expect(Part part, PartType type, const std::string& what) {
    if (part.type == type) return part;
    throw expression_error(part.position,
                           fmt::format("{} is {}; {} is needed", what, describe(part.type), describe(type)));
  }

  const Token& token() const { return tokens_[std::min(at_, tokens_.size() - 1)]; }

  bool takes(std::initializer_list<std::string_view> signs) const {
    return token().kind == TokenKind::kOperator && std::ranges::find(signs, token().text) != signs.end();
  }

  [[noreturn]] void fail(const std::string& what) const { throw expression_error(token().position, what); }

  const Schema& schema_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

/// Parses an expression. Refuses a text that is too long, because the memory and the time of the parser grow with it.
Part parsed(const Schema& schema, std::string_view text) {
  if (text.size() > kMaxExpressionLength) {
    throw Error(Code::kInvalidArgument, "--where: the expression has {} characters; at most {} are allowed",
                text.size(), kMaxExpressionLength);
  }
  return Parser(schema, text).parse();
}

}  // namespace

Expression::Expression(const Schema& schema, std::string_view text)
    : condition_([value = parsed(schema, text).value](const json& message) {
        const PartValue result = value(message);
        return result[0].index() != 0 && std::get<bool>(result[0]);
      }) {}

}  // namespace trainyard::tools
