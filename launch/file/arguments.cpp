// SPDX-License-Identifier: Apache-2.0
#include "launch/file/arguments.h"

#include <algorithm>

#include "launch/file/table_reader.h"
#include "launch/file/toml_reader.h"

namespace trainyard::launch {
namespace {

const std::vector<std::string> kTypes{"bool", "integer", "number", "string", "any"};

/// One entry of the table [args]: the declaration of an argument.
struct Declaration {
  std::string name;
  std::string type;
  std::string help;
  Origin origin;
  const Value* default_value = nullptr;
  Value::List choices;

  std::string key() const { return "args." + name; }
  std::string allowed() const {
    if (!choices.empty()) return "one of: " + to_text(Value{choices, origin});
    return type == "integer" ? "an integer" : type == "any" ? "any value" : "a " + type;
  }
};

/// Returns the type of a default. Without a default, the type is "string".
std::string infer_type(const Value* value) {
  if (value == nullptr) return "string";
  if (value->get_if<bool>() != nullptr) return "bool";
  if (value->get_if<std::int64_t>() != nullptr) return "integer";
  if (value->get_if<double>() != nullptr) return "number";
  return value->get_if<std::string>() != nullptr ? "string" : "any";
}

/// Returns true if the value has the type. An integer is a number, too.
bool has_type(const Value& value, const std::string& type) {
  const std::string own = infer_type(&value);
  return type == "any" || own == type || (type == "number" && own == "integer");
}

/// Returns true if a default contains a substitution. The type of such a default is known only after the substitution,
/// so it cannot be checked here.
bool holds_substitution(const Value& value) {
  const auto* text = value.get_if<std::string>();
  return text != nullptr && text->find("${") != std::string::npos;
}

bool fits(const Declaration& declared, const Value& value) {
  if (!has_type(value, declared.type)) return false;
  // Values have no operator==, because they contain their origins, so their texts are compared.
  const auto same = [&value](const Value& choice) { return to_text(choice) == to_text(value); };
  return declared.choices.empty() || std::ranges::any_of(declared.choices, same);
}

// Reads an entry of [args]. A table is a full declaration; any other value is a short form that gives only the default.
Declaration read_declaration(const std::string& name, const Value& value) {
  Declaration declared;
  declared.name = name;
  declared.origin = value.origin;
  check_name(value, declared.key(), name);
  if (value.get_if<Value::Table>() == nullptr) {
    declared.default_value = &value;
    declared.type = infer_type(&value);
    return declared;
  }
  const TableReader table(value, declared.key(), {"default", "type", "help", "choices"});
  declared.default_value = table.find("default");
  declared.type = table.one_of("type", kTypes, infer_type(declared.default_value));
  declared.help = table.text("help", "");
  if (const Value* choices = table.find("choices")) {
    const auto* list = choices->get_if<Value::List>();
    if (list == nullptr || list->empty()) throw not_allowed(*choices, table.key("choices"), "a list of values");
    declared.choices = *list;
  }
  return declared;
}

// Converts the text from the command line to a value. For an argument of the type "string", the text is taken
// literally, so `name=1` gives the text "1".
Value given_value(const Declaration& declared, const std::string& text) {
  Value value = declared.type == "string" ? Value{text, {}} : read_command_line_value(text);
  if (fits(declared, value)) return value;
  throw not_allowed(value, declared.name, declared.allowed());
}

Value default_value(const Declaration& declared) {
  if (declared.default_value == nullptr) {
    const std::string help = declared.help.empty() ? "" : " (" + declared.help + ")";
    // The error shows how to give the argument, because new users often meet this error first.
    throw error_at(declared.origin, declared.key(),
                   fmt::format("must be given: {}=VALUE, {}{}", declared.name, declared.allowed(), help));
  }
  const Value& value = *declared.default_value;
  if (holds_substitution(value) || fits(declared, value)) return value;
  throw not_allowed(value, declared.key() + ".default", declared.allowed());
}

}  // namespace

Assignment parse_assignment(const std::string& word) {
  const std::size_t equals = word.find('=');
  if (equals != std::string::npos && equals != 0) return {word.substr(0, equals), word.substr(equals + 1)};
  throw Error(Code::kInvalidArgument, "command line: \"{}\" is not allowed; name=value", word);
}

std::map<std::string, Value> resolve_arguments(const Value* declared, const std::map<std::string, std::string>& given) {
  std::map<std::string, Value> values;
  if (declared == nullptr) return values;
  // sort_command_line() has already refused arguments that the file does not declare.
  for (const auto& [name, value] : table_of(*declared, "args")) {
    const Declaration declaration = read_declaration(name, value);
    const auto text = given.find(name);
    values[name] = text == given.end() ? default_value(declaration) : given_value(declaration, text->second);
  }
  return values;
}

}  // namespace trainyard::launch
