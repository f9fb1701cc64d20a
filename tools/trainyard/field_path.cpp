// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/field_path.h"

#include <fmt/format.h>

#include <charconv>

#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard::tools {
namespace {

using nlohmann::json;

FieldType simple(FieldKind kind) { return {.kind = kind, .struct_name = "", .element = {}}; }

/// Returns the fields of a tensor in the JSON from json_from_binary().
const std::vector<Field>& tensor_fields() {
  static const std::vector<Field> fields{
      {"dtype", simple(FieldKind::kString)},
      {"shape", {.kind = FieldKind::kList, .struct_name = "", .element = {simple(FieldKind::kI64)}}},
      {"payload", simple(FieldKind::kU32)},
      {"offset", simple(FieldKind::kU64)}};
  return fields;
}

}  // namespace

FieldPath::FieldPath(const Schema& schema, std::string_view path) : text_(path) {
  type_ = {.kind = FieldKind::kStruct, .struct_name = schema.message().name, .element = {}};
  std::string_view rest = path;
  for (bool first = true; first || !rest.empty(); first = false) {
    if (rest.starts_with('[')) {
      const std::size_t end = rest.find(']');
      if (first) fail(path.size() - rest.size(), "a name is needed");
      if (end == rest.npos) fail(path.size() - rest.size(), "']' is missing");
      index(rest.substr(1, end - 1));
      rest.remove_prefix(end + 1);
      continue;
    }
    if (!first && !rest.starts_with('.')) fail(path.size() - rest.size(), "a '.' or '[' is needed");
    if (!first) rest.remove_prefix(1);
    const std::string_view name = rest.substr(0, rest.find_first_of(".[]"));
    if (name.empty()) fail(path.size() - rest.size(), "a name is needed");
    enter(schema, name);
    rest.remove_prefix(name.size());
  }
}

void FieldPath::enter(const Schema& schema, std::string_view name) {
  steps_.emplace_back(std::string(name));
  if (type_.kind == FieldKind::kMap) {
    type_ = FieldType(type_.element.at(0));
  } else {
    const StructType* type = type_.kind == FieldKind::kStruct ? schema.find(type_.struct_name) : nullptr;
    if (type == nullptr && type_.kind != FieldKind::kTensor) {
      throw Error(Code::kInvalidArgument, "'{}': '{}' is not possible, because a {} has no fields{}", text_, name,
                  to_text(type_), type_.kind == FieldKind::kList ? "; its elements are [0], [1], ..." : "");
    }
    std::vector<std::string> known;
    const Field* found = nullptr;
    for (const Field& field : type == nullptr ? tensor_fields() : type->fields) {
      known.push_back(field.name);
      if (field.name == name) found = &field;
    }
    if (found == nullptr) {
      throw Error(Code::kInvalidArgument, "'{}': {} has no field '{}'{}", text_, to_text(type_), name,
                  suggestion(name, known));
    }
    type_ = FieldType(found->type);
  }
  while (type_.kind == FieldKind::kOptional) type_ = FieldType(type_.element.at(0));
}

void FieldPath::index(std::string_view digits) {
  if (type_.kind != FieldKind::kList) {
    throw Error(Code::kInvalidArgument, "'{}': [{}] is not possible, because a {} is not a list", text_, digits,
                to_text(type_));
  }
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || error != std::errc() || end != digits.data() + digits.size()) {
    throw Error(Code::kInvalidArgument, "'{}': [{}] is not the number of an element; the first is [0]", text_, digits);
  }
  steps_.emplace_back(number);
  type_ = FieldType(type_.element.at(0));
  while (type_.kind == FieldKind::kOptional) type_ = FieldType(type_.element.at(0));
}

void FieldPath::fail(std::size_t position, const std::string& why) const {
  throw Error(Code::kInvalidArgument, "'{}', character {}: {}", text_, position + 1, why);
}

const json& FieldPath::value_in(const json& message) const {
  static const json missing;
  const json* value = &message;
  for (const auto& step : steps_) {
    if (const auto* name = std::get_if<std::string>(&step)) {
      const auto found = value->is_object() ? value->find(*name) : value->end();
      if (!value->is_object() || found == value->end()) return missing;
      value = &*found;
    } else {
      const std::size_t number = std::get<std::size_t>(step);
      if (!value->is_array() || number >= value->size()) return missing;
      value = &(*value)[number];
    }
  }
  return *value;
}

}  // namespace trainyard::tools
