// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// The kind of a field. Lists, maps (keyed by strings) and optionals have one element type; structs have a name. The
/// kinds that have neither an element type nor a name, kBool to kTensor, must come first: the parser and the table of
/// names rely on this order.
enum class FieldKind : std::uint8_t {
  kBool,
  kI8,
  kI16,
  kI32,
  kI64,
  kU8,
  kU16,
  kU32,
  kU64,
  kF32,
  kF64,
  kString,
  kTensor,
  kList,
  kMap,
  kOptional,
  kStruct,
};

/// The type of a field, including the types inside it.
struct FieldType {
  FieldKind kind = FieldKind::kBool;
  std::string struct_name;  ///< The name of the struct; empty for all other kinds.
  /// The element type, as a list of one entry, for kList, kMap and kOptional; otherwise empty.
  std::vector<FieldType> element;

  friend bool operator==(const FieldType&, const FieldType&) = default;
};

/// One field of a struct, as `serialize` lists it.
struct Field {
  std::string name;
  FieldType type;

  friend bool operator==(const Field&, const Field&) = default;
};

/// A struct and its fields, in the order of the binary form.
struct StructType {
  std::string name;
  std::vector<Field> fields;

  friend bool operator==(const StructType&, const StructType&) = default;
};

/// The description of a message type: the message itself first, then every struct inside it, in order of appearance.
struct Schema {
  std::vector<StructType> structs;

  /// Returns the struct of this name, or null if there is none. The search is linear, because schemas have only a
  /// handful of structs.
  const StructType* find(std::string_view name) const;

  /// Returns the struct of the message itself. Throws kInvalidArgument if there is none: parse_schema() never returns
  /// such a schema, but a program can make one.
  const StructType& message() const;

  friend bool operator==(const Schema&, const Schema&) = default;
};

/// Returns the canonical text, with one field per line: `Batch {\n  u64 order\n  list<Tensor> tensors\n}\n`. The text
/// contains all that is needed to decode the binary form of this message type.
std::string to_text(const Schema& schema);
/// Returns the type as it is written in the canonical text, for example "list<Tensor>".
std::string to_text(const FieldType& type);

/// Parses a text returned by to_text(). The text can come from an untrusted source; if it is not a valid schema, throws
/// kCorrupt with the line number. The result is safe to decode with, because no struct contains itself and nesting is
/// bounded.
Schema parse_schema(std::string_view text);

/// Returns a 64-bit FNV-1a hash of `schema_text`, which must be the canonical text. The hash therefore depends on the
/// names and types of all structs and fields, and on their order. The hash function is defined at
/// http://www.isthe.com/chongo/tech/comp/fnv/ (offset basis 14695981039346656037, prime 1099511628211).
std::uint64_t fingerprint(std::string_view schema_text);

/// Returns a JSON Schema (draft 2020-12) that describes the JSON form of the message type, for standard viewers and
/// validators. Throws kInvalidArgument for a schema without structs.
std::string to_json_schema(const Schema& schema);

}  // namespace trainyard
