// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/inferred_schema.h"

#include <fmt/format.h>

#include <algorithm>

#include "messages/error.h"
#include "messages/printable.h"

namespace trainyard::tools {
namespace {

using Json = nlohmann::ordered_json;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_field_name(const std::string& name) {
  return !name.empty() && !is_digit(name.front()) &&
         std::ranges::all_of(name, [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

/// Converts "slow_rank" to "SlowRank".
std::string camel_case(const std::string& text) {
  std::string name;
  bool begins = true;
  for (const char c : text) {
    const bool counts = is_letter(c) || is_digit(c);
    if (counts) name += begins && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    begins = !counts;
  }
  return name.empty() || is_digit(name.front()) ? "Message" + name : name;
}

/// Derives a schema from an example. Collects the structs in the order in which they appear.
class Inference {
 public:
  Schema of(const Json& example, const std::string& type_name) {
    add_struct(example, type_name, "");
    return std::move(schema_);
  }

 private:
  [[noreturn]] static void refuse(const std::string& path, const char* why) {
    throw Error(Code::kInvalidArgument, "{}: {}; give the type of the messages with --schema or --like",
                printable_line(path), why);
  }

  FieldType type_of(const Json& value, const std::string& name, const std::string& path) {
    if (value.is_boolean()) return {.kind = FieldKind::kBool};
    if (value.is_number_float()) return {.kind = FieldKind::kF64};
    if (value.is_number()) return {.kind = FieldKind::kI64};
    if (value.is_string()) return {.kind = FieldKind::kString};
    if (value.is_array()) return list_of(value, name, path);
    if (value.is_object())
      return {.kind = FieldKind::kStruct, .struct_name = add_struct(value, camel_case(name), path)};
    refuse(path, "null has no type");
  }

  FieldType list_of(const Json& list, const std::string& name, const std::string& path) {
    if (list.empty()) refuse(path, "an empty list has no type");
    const bool numbers = std::ranges::all_of(list, [](const Json& each) { return each.is_number(); });
    const bool whole = std::ranges::all_of(list, [](const Json& each) { return each.is_number_integer(); });
    FieldType element =
        numbers && !whole ? FieldType{.kind = FieldKind::kF64} : type_of(list.front(), name, path + "[0]");
    return {.kind = FieldKind::kList, .element = {std::move(element)}};
  }

  /// Adds a struct for `object`, and returns its name. The name is `wanted`, followed by a number if another struct
  /// already has this name.
  std::string add_struct(const Json& object, const std::string& wanted, const std::string& path) {
    std::string name = wanted;
    for (int number = 2; schema_.find(name) != nullptr; ++number) name = fmt::format("{}{}", wanted, number);
    const std::size_t index = schema_.structs.size();
    if (index > 0 && object.empty()) refuse(path, "an object without fields has no type");
    schema_.structs.push_back({.name = name});
    for (const auto& [field, value] : object.items()) {
      const std::string inner = path.empty() ? field : path + "." + field;
      if (!is_field_name(field)) refuse(inner, "the name of a field consists of letters, digits and _");
      FieldType type = type_of(value, field, inner);
      // The struct is accessed by its index, because adding nested structs may have moved it.
      schema_.structs[index].fields.push_back({field, std::move(type)});
    }
    return name;
  }

  Schema schema_;
};

}  // namespace

Schema infer_schema(const Json& example, const std::string& type_name) { return Inference().of(example, type_name); }

std::string type_name_of(const std::string& topic) { return camel_case(topic.substr(topic.rfind('/') + 1)); }

}  // namespace trainyard::tools
