// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/schema_difference.h"

#include <fmt/format.h>

#include <algorithm>

#include "messages/error.h"
#include "messages/schema.h"

namespace trainyard::launch {
namespace {

const Field* find(const StructType& in, const std::string& name) {
  const auto found = std::ranges::find(in.fields, name, &Field::name);
  return found == in.fields.end() ? nullptr : &*found;
}

std::string in_struct(const StructType& type, const std::string& what) {
  return fmt::format("; they differ in {} of {}", what, type.name);
}

/// Looks for fields that only one side has, then for other types, then for another order.
std::string struct_difference(const StructType& here, const StructType& there) {
  for (const Field& field : here.fields) {
    const Field* other = find(there, field.name);
    const std::string name = fmt::format("the field '{}'", field.name);
    if (other == nullptr) return in_struct(here, name) + ", which is only here";
    if (other->type == field.type) continue;
    return in_struct(here, name) + fmt::format(": {} here, {} there", to_text(field.type), to_text(other->type));
  }
  for (const Field& field : there.fields) {
    if (find(here, field.name) == nullptr) {
      return in_struct(here, fmt::format("the field '{}'", field.name)) + ", which is only there";
    }
  }
  for (std::size_t i = 0; i < here.fields.size(); ++i) {
    if (here.fields[i].name == there.fields[i].name) continue;
    return in_struct(here, "the order of the fields") +
           fmt::format(": '{}' here, '{}' there", here.fields[i].name, there.fields[i].name);
  }
  return "";
}

}  // namespace

std::string schema_difference(const std::string& here, const std::string& there) {
  try {
    const Schema ours = parse_schema(here), theirs = parse_schema(there);
    if (ours.structs.front().name != theirs.structs.front().name) return "";
    for (const StructType& type : ours.structs) {
      const StructType* other = theirs.find(type.name);
      // A struct that only one side has is the type of a field, which differs already.
      std::string difference = other == nullptr ? "" : struct_difference(type, *other);
      if (!difference.empty()) return difference;
    }
  } catch (const Error&) {
    // Both texts are shown anyway.
  }
  return "";
}

}  // namespace trainyard::launch
