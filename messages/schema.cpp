// SPDX-License-Identifier: Apache-2.0
#include "messages/schema.h"

#include <algorithm>
#include <array>

#include "messages/error.h"

namespace trainyard {

// The canonical text identifies a type: two processes have the same type if their texts are equal byte for byte.

namespace {

/// The names of the simple kinds (those without an element type), indexed by FieldKind.
constexpr std::array<std::string_view, 13> kNames{"bool", "i8",  "i16", "i32", "i64",    "u8",    "u16",
                                                  "u32",  "u64", "f32", "f64", "string", "Tensor"};

}  // namespace

const StructType* Schema::find(std::string_view name) const {
  const auto found = std::ranges::find(structs, name, &StructType::name);
  return found == structs.end() ? nullptr : &*found;
}

const StructType& Schema::message() const {
  if (structs.empty()) throw Error(Code::kInvalidArgument, "a schema without structs describes no message");
  return structs.front();
}

// The names of simple types may not change, because fingerprints are made from this text.
std::string to_text(const FieldType& type) {
  switch (type.kind) {
    case FieldKind::kList:
      return "list<" + to_text(type.element.at(0)) + ">";
    case FieldKind::kMap:
      return "map<" + to_text(type.element.at(0)) + ">";
    case FieldKind::kOptional:
      return "optional<" + to_text(type.element.at(0)) + ">";
    case FieldKind::kStruct:
      return type.struct_name;
    default:
      return std::string(kNames.at(static_cast<std::size_t>(type.kind)));
  }
}

std::string to_text(const Schema& schema) {
  std::string text;
  for (const StructType& type : schema.structs) {
    text += type.name + " {\n";
    for (const Field& field : type.fields) text += "  " + to_text(field.type) + " " + field.name + "\n";
    text += "}\n";
  }
  return text;
}

// The hash need not be cryptographic, since it only guards against mistakes. If a malicious sender forges it, its
// messages are refused with kCorrupt when they do not fit the type.
std::uint64_t fingerprint(std::string_view schema_text) {
  std::uint64_t hash = 14695981039346656037ull;
  for (const char c : schema_text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ull;
  }
  return hash;
}

}  // namespace trainyard
