// SPDX-License-Identifier: Apache-2.0
// Reads the text of a schema, which may come from an untrusted sender. The parser accepts exactly the texts that
// to_text() would write. So every schema has only one text, whose fingerprint can be compared. Types that contain
// themselves are refused, so that decoding ends.
#include <algorithm>
#include <cctype>
#include <utility>

#include "messages/error.h"
#include "messages/limits.h"
#include "messages/schema.h"

namespace trainyard {
namespace {

/// Returns the simple kind (one without an element type) of this name, or kStruct if there is none.
FieldKind simple_kind(std::string_view word) {
  for (int i = 0; i <= static_cast<int>(FieldKind::kTensor); ++i) {
    const auto kind = static_cast<FieldKind>(i);
    if (to_text(FieldType{kind, {}, {}}) == word) return kind;
  }
  return FieldKind::kStruct;
}

/// True if `text` matches [A-Za-z_][A-Za-z0-9_]*.
bool is_name(std::string_view word) {
  const auto letter = [](unsigned char c) { return std::isalpha(c) != 0 || c == '_'; };
  const auto letter_or_digit = [&](unsigned char c) { return letter(c) || std::isdigit(c) != 0; };
  return !word.empty() && letter(word.front()) && std::ranges::all_of(word, letter_or_digit);
}

/// Cuts `prefix` off the front of `text`. Returns false if `text` does not begin with it.
bool take(std::string_view& text, std::string_view prefix) {
  if (!text.starts_with(prefix)) return false;
  text.remove_prefix(prefix.size());
  return true;
}

/// Parses in two passes: first the grammar, line by line, then the references between structs, from the message down.
class Parser {
 public:
  explicit Parser(std::string_view text) : rest_(text) {
    if (text.size() > kMaxSchemaBytes) {
      throw Error(Code::kCorrupt, "schema text has {} bytes; at most {}", text.size(), kMaxSchemaBytes);
    }
  }

  // The height of each struct, which visit() returns, is stored. So a struct that many fields refer to is visited only
  // once, and the time is linear in the length of the text.
  Schema parse() {
    do {
      parse_struct();
    } while (!rest_.empty());
    heights_.assign(schema_.structs.size(), kUnvisited);
    visit(0, 0);
    if (visited_ != schema_.structs.size()) fail_at(visited_, "is in no field of the message");
    return std::move(schema_);
  }

 private:
  static constexpr std::size_t kUnvisited = ~std::size_t{0};
  static constexpr std::size_t kOpen = kUnvisited - 1;

  // A text that does not end with a newline is refused, because to_text() would not write it.
  std::string_view next_line() {
    ++line_;
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) fail("ends without a newline", rest_);
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return line;
  }

  // A struct with the name of a simple type is refused, because no field could refer to it.
  void parse_struct() {
    std::string_view line = next_line();
    if (!line.ends_with(" {") || !is_name(line.substr(0, line.size() - 2))) fail("must be 'Name {'", line);
    const std::string_view name = line.substr(0, line.size() - 2);
    if (simple_kind(name) != FieldKind::kStruct) fail("gives a struct the name of a simple type", line);
    if (schema_.find(name) != nullptr) fail("describes a struct for the second time", line);
    lines_.push_back(line_);
    schema_.structs.push_back({std::string(name), {}});
    while ((line = next_line()) != "}") parse_field(line);
  }

  // A field is two spaces, a type, a space and a name, exactly as to_text() writes it.
  void parse_field(std::string_view line) {
    const std::string_view whole = line;
    if (!take(line, "  ")) fail("must be '  type name' or '}'", whole);
    FieldType type = parse_type(line, 0);
    if (!take(line, " ") || !is_name(line)) fail("must be '  type name' or '}'", whole);
    std::vector<Field>& fields = schema_.structs.back().fields;
    if (std::ranges::find(fields, line, &Field::name) != fields.end()) fail("has a field's name again", whole);
    fields.push_back({std::string(line), std::move(type)});
  }

  /// Cuts a type off the front of `text`.
  FieldType parse_type(std::string_view& text, std::size_t depth) {
    if (depth > kMaxNesting) fail("nests types too deeply", text);
    for (const auto& [prefix, kind] : {std::pair{"list<", FieldKind::kList}, std::pair{"map<", FieldKind::kMap},
                                       std::pair{"optional<", FieldKind::kOptional}}) {
      if (!take(text, prefix)) continue;
      FieldType type{kind, {}, {parse_type(text, depth + 1)}};
      if (!take(text, ">")) fail("misses a '>' before", text);
      return type;
    }
    const std::string_view word = text.substr(0, text.find_first_of(" <>"));
    if (!is_name(word)) fail("has no type at", text);
    text.remove_prefix(word.size());
    const FieldKind kind = simple_kind(word);
    return {kind, kind == FieldKind::kStruct ? std::string(word) : std::string(), {}};
  }

  /// Checks the struct `index` and all types inside it. `depth` is the number of types around the struct. Returns the
  /// number of levels of types inside the struct.
  std::size_t visit(std::size_t index, std::size_t depth) {
    if (heights_[index] == kOpen) fail_at(index, "holds itself");
    if (heights_[index] == kUnvisited) {
      if (index != visited_++) fail_at(index, "is not listed in the order of appearance");
      const StructType& type = schema_.structs[index];
      // A struct without fields takes no bytes, so a sender could repeat it any number of times.
      if (type.fields.empty() && index != 0) fail_at(index, "has no fields");
      if (depth > kMaxNesting) fail_at(index, "nests types too deeply");
      heights_[index] = kOpen;
      std::size_t height = 0;
      for (const Field& field : type.fields) height = std::max(height, visit(field.type, index, depth));
      heights_[index] = height;
    }
    if (depth + heights_[index] > kMaxNesting) fail_at(index, "nests types too deeply");
    return heights_[index];
  }

  /// Checks the type of a field of the struct `owner`, or an element type inside it. Returns the number of levels of
  /// types inside this type.
  std::size_t visit(const FieldType& type, std::size_t owner, std::size_t depth) {
    if (!type.element.empty()) return 1 + visit(type.element.front(), owner, depth + 1);
    if (type.kind != FieldKind::kStruct) return 0;
    const StructType* found = schema_.find(type.struct_name);
    if (found == nullptr) fail_at(owner, fmt::format("has a field of the unknown type '{}'", type.struct_name));
    return 1 + visit(static_cast<std::size_t>(found - schema_.structs.data()), depth + 1);
  }

  /// Throws an error that names the line being read.
  [[noreturn]] void fail(std::string_view what, std::string_view where) const {
    throw Error(Code::kCorrupt, "schema line {} {}: '{}'", line_, what, where.substr(0, 80));
  }
  /// Throws an error that names the line where struct `index` began.
  [[noreturn]] void fail_at(std::size_t index, std::string_view what) const {
    throw Error(Code::kCorrupt, "schema line {}: struct '{}' {}", lines_[index], schema_.structs[index].name, what);
  }

  std::string_view rest_;
  std::size_t line_ = 0;
  Schema schema_;
  std::vector<std::size_t> lines_;  ///< The line on which each struct begins.
  /// The number of levels of types inside each struct; kUnvisited before its visit, and kOpen during it.
  std::vector<std::size_t> heights_;
  std::size_t visited_ = 0;  ///< The number of structs that have been visited so far, starting with the message.
};

}  // namespace

Schema parse_schema(std::string_view text) { return Parser(text).parse(); }

}  // namespace trainyard
