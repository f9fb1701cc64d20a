// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "messages/message_field.h"
#include "messages/schema.h"
#include "messages/tensor.h"
#include "messages/words.h"

namespace trainyard {

/// A cereal output archive that records field names and types instead of values. It processes a default-constructed
/// message, so the schema is derived from the same `serialize` function as the binary form.
///
/// In a default-constructed message all lists, maps and optionals are empty. The types of their elements are therefore
/// derived from the C++ types and not from values.
class SchemaBuilder : public cereal::OutputArchive<SchemaBuilder, cereal::AllowEmptyClassElision> {
 public:
  SchemaBuilder() : cereal::OutputArchive<SchemaBuilder, cereal::AllowEmptyClassElision>(this) {}

  /// Returns the schema of T: first T itself, then the structs inside it, in order of appearance.
  template <Message T>
  static Schema build() {
    SchemaBuilder builder;
    builder.type_of<T>();
    return std::move(builder.schema_);
  }

  /// Adds a field to the struct whose fields are being listed. Called by the save function at the end of this file.
  template <class T>
  void field(const char* name) {
    FieldType type = type_of<T>();
    schema_.structs[open_].fields.push_back({name, std::move(type)});
  }

 private:
  // This function decides which types may be on the wire. Any other type does not compile.
  template <class T>
  FieldType type_of() {
    require_message_field<T>();
    if constexpr (Worded<T>) {
      return {FieldKind::kString, {}, {}};
    } else if constexpr (std::is_enum_v<T>) {
      return type_of<std::underlying_type_t<T>>();
    } else if constexpr (std::is_arithmetic_v<T>) {
      return {number_kind<T>(), {}, {}};
    } else {
      return compound(static_cast<T*>(nullptr));
    }
  }

  /// Returns the kind of a number type. The kind depends on the width and the sign, not on the name: `long` and `long
  /// long` are the same on the wire.
  template <class T>
  static constexpr FieldKind number_kind() {
    if constexpr (std::is_same_v<T, bool>) return FieldKind::kBool;
    if constexpr (std::is_floating_point_v<T>) return sizeof(T) == 4 ? FieldKind::kF32 : FieldKind::kF64;
    constexpr FieldKind kSigned[] = {FieldKind::kI8, FieldKind::kI16, FieldKind::kI32, FieldKind::kI64};
    constexpr FieldKind kUnsigned[] = {FieldKind::kU8, FieldKind::kU16, FieldKind::kU32, FieldKind::kU64};
    constexpr int kLog2 = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
    return std::is_signed_v<T> ? kSigned[kLog2] : kUnsigned[kLog2];
  }

  // A null pointer selects the overload, because C++ has no partial specialisation of functions.
  FieldType compound(std::string*) { return {FieldKind::kString, {}, {}}; }
  FieldType compound(Tensor*) { return {FieldKind::kTensor, {}, {}}; }
  template <class T>
  FieldType compound(std::vector<T>*) {
    return {FieldKind::kList, {}, {type_of<T>()}};
  }
  template <class T>
  FieldType compound(std::map<std::string, T>*) {
    return {FieldKind::kMap, {}, {type_of<T>()}};
  }
  template <class T>
  FieldType compound(std::optional<T>*) {
    return {FieldKind::kOptional, {}, {type_of<T>()}};
  }
  template <Message T>
  FieldType compound(T*) {
    // The struct is entered before its fields are visited, so that the text lists structs in order of appearance.
    if (begin_struct(T::kTypeName)) {
      const std::size_t outer = std::exchange(open_, schema_.structs.size() - 1);
      T value{};
      cereal::access::member_serialize(*this, value);
      open_ = outer;
    }
    return {FieldKind::kStruct, T::kTypeName, {}};
  }

  /// Adds an empty struct with this name. Returns false if the schema already has one.
  bool begin_struct(const char* name) {
    if (schema_.find(name) != nullptr) return false;
    schema_.structs.push_back({name, {}});
    return true;
  }

  Schema schema_;
  std::size_t open_ = 0;  ///< The index of the struct whose fields are being listed.
};

template <class T>
void prologue(SchemaBuilder&, const T&) {}
template <class T>
void epilogue(SchemaBuilder&, const T&) {}

template <class T>
void CEREAL_SAVE_FUNCTION_NAME(SchemaBuilder& archive, const cereal::NameValuePair<T>& field) {
  archive.template field<std::remove_cvref_t<T>>(field.name);
}

}  // namespace trainyard
