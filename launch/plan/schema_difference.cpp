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

/// Returns the first difference between two structs: a field that only one of them has, a field of another type, or
/// another order of the fields.
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
      // If only one text has a struct, a field of another type has already been found.
      std::string difference = other == nullptr ? "" : struct_difference(type, *other);
      if (!difference.empty()) return difference;
    }
  } catch (const Error&) {
    // One of the texts is not a schema. The error shows both texts anyway.
  }
  return "";
}

}  // namespace trainyard::launch
