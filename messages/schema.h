#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace trainyard {

/// What a field can be. Lists, maps (keyed by string) and optionals have one element type; structs have a name. The
/// simple kinds come first, up to kTensor: the parser and the table of names count on it.
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

/// The type of a field, with the types inside it.
struct FieldType {
  FieldKind kind = FieldKind::kBool;
  std::string struct_name;         ///< kStruct only.
  std::vector<FieldType> element;  ///< One entry for kList, kMap and kOptional; else empty.

  friend bool operator==(const FieldType&, const FieldType&) = default;
};

/// One field of a struct, as `serialize` lists it.
struct Field {
  std::string name;
  FieldType type;

  friend bool operator==(const Field&, const Field&) = default;
};

/// A struct and its fields, in the order in which they are written.
struct StructType {
  std::string name;
  std::vector<Field> fields;

  friend bool operator==(const StructType&, const StructType&) = default;
};

/// The description of a message type: the message itself first, then every struct it holds, in order of appearance.
struct Schema {
  std::vector<StructType> structs;

  /// The struct of this name; null if there is none. Linear: schemas have a handful.
  const StructType* find(std::string_view name) const;

  friend bool operator==(const Schema&, const Schema&) = default;
};

/// The canonical text, one field a line: `Batch {\n  u64 order\n  list<Tensor> tensors\n}\n`. It says all that the
/// binary form needs, so a client that has read it can decode every message of that type.
std::string to_text(const Schema& schema);
/// One type as it stands in the text: "list<Tensor>".
std::string to_text(const FieldType& type);

/// The inverse of to_text. The text may come from a stranger: throws kCorrupt, with the line, for anything else. What
/// it returns is safe to decode by: no struct holds itself, and nesting is bounded.
Schema parse_schema(std::string_view text);

/// 64-bit FNV-1a over the canonical text: field names, types and nesting all change it.
/// Source: http://www.isthe.com/chongo/tech/comp/fnv/ (offset basis 14695981039346656037, prime 1099511628211).
std::uint64_t fingerprint(std::string_view schema_text);

/// The type as JSON Schema (draft 2020-12), for viewers and validators that know nothing of Trainyard. Throws
/// kInvalidArgument for a schema without structs.
std::string to_json_schema(const Schema& schema);

}  // namespace trainyard
