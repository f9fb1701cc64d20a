// SPDX-License-Identifier: Apache-2.0
// Converts the binary form to JSON, with the help of a schema. Both may come from an untrusted sender: kMaxNesting
// bounds the recursion, and the size of the body bounds the output.
#include <array>
#include <charconv>
#include <set>
#include <string>

#include "messages/error.h"
#include "messages/json.h"
#include "messages/json_text.h"
#include "messages/limits.h"
#include "messages/recorded_json.h"

namespace trainyard {
namespace {

/// Walks the body and the schema together. An instance serves one message.
class Decoder {
 public:
  Decoder(const Schema& schema, std::span<const std::byte> body, std::string& out, int indent)
      : schema_(schema), reader_(body, {}), text_(out, indent) {}

  /// Decodes the whole message. Throws kCorrupt if bytes are left over.
  void decode() {
    decode_struct(schema_.message(), 0);
    reader_.finish();
  }

 private:
  void decode_struct(const StructType& type, std::size_t depth) {
    // parse_schema() refuses such schemas, but a program may have built this one itself.
    if (depth > kMaxNesting) throw Error(Code::kCorrupt, "message of type {} nests too deeply", type.name);
    text_.open('{');
    for (const Field& field : type.fields) {
      text_.key(field.name);
      decode_value(field.type, depth + 1);
    }
    text_.close('}');
  }

  // Every call reads exactly the bytes of one value and writes exactly one JSON value.
  void decode_value(const FieldType& type, std::size_t depth) {
    switch (type.kind) {
      case FieldKind::kList:
        return decode_list(type.element.at(0), depth);
      case FieldKind::kMap:
        return decode_map(type.element.at(0), depth);
      case FieldKind::kOptional:
        return reader_.read_bool() ? decode_value(type.element.at(0), depth + 1) : text_.literal("null");
      case FieldKind::kStruct: {
        const StructType* found = schema_.find(type.struct_name);
        if (found == nullptr) throw Error(Code::kCorrupt, "schema has no struct '{}'", type.struct_name);
        return decode_struct(*found, depth);
      }
      case FieldKind::kString:
        return text_.text(reader_.read_text());
      case FieldKind::kTensor:
        return decode_tensor();
      default:
        return decode_number(type.kind);
    }
  }

  void decode_list(const FieldType& element, std::size_t depth) {
    if (element.kind == FieldKind::kStruct) refuse_empty(element.struct_name);
    text_.open('[');
    const std::size_t count = reader_.read_count(1);
    for (std::size_t i = 0; i < count; ++i) decode_value(element, depth + 1);
    text_.close(']');
  }

  // The keys are kept in order to detect a repeated key, which different JSON readers would treat in different ways.
  void decode_map(const FieldType& element, std::size_t depth) {
    text_.open('{');
    const std::size_t count = reader_.read_count(sizeof(std::uint32_t));
    std::set<std::string> keys;
    for (std::size_t i = 0; i < count; ++i) {
      const auto [key, is_new] = keys.emplace(reader_.read_text());
      if (!is_new) reader_.throw_repeated(*key);
      text_.key(*key);
      decode_value(element, depth + 1);
    }
    text_.close('}');
  }

  // The JSON of a tensor says in which payload its bytes are, but does not contain the bytes, which could be as large
  // as a model.
  void decode_tensor() {
    const TensorPlace place = reader_.read_tensor_place();
    text_.open('{');
    text_.key("dtype");
    text_.text(name_of(place.dtype));
    text_.key("shape");
    text_.open('[');
    for (const std::int64_t extent : place.shape) integer(extent);
    text_.close(']');
    text_.key("payload");
    place.payload == kNoPayload ? text_.literal("null") : integer(place.payload);
    text_.key("offset");
    integer(place.offset);
    text_.close('}');
  }

  // A float is not converted to a double first, because the shortest text of the float is shorter than that of the
  // double.
  void decode_number(FieldKind kind) {
    switch (kind) {
      case FieldKind::kBool:
        return text_.literal(reader_.read_bool() ? "true" : "false");
      case FieldKind::kI8:
        return decode_integer<std::int8_t>();
      case FieldKind::kI16:
        return decode_integer<std::int16_t>();
      case FieldKind::kI32:
        return decode_integer<std::int32_t>();
      case FieldKind::kI64:
        return decode_integer<std::int64_t>();
      case FieldKind::kU8:
        return decode_integer<std::uint8_t>();
      case FieldKind::kU16:
        return decode_integer<std::uint16_t>();
      case FieldKind::kU32:
        return decode_integer<std::uint32_t>();
      case FieldKind::kU64:
        return decode_integer<std::uint64_t>();
      case FieldKind::kF32:
        return text_.number(reader_.read_number<float>());
      default:
        return text_.number(reader_.read_number<double>());
    }
  }

  // Integers are written as text, not through a JSON library's double, so 64-bit numbers keep all their digits.
  template <class T>
  void decode_integer() {
    integer(reader_.read_number<T>());
  }

  template <class T>
  void integer(T value) {
    // Enough for 64 bits, and on the stack, because recordings contain a great many numbers.
    std::array<char, 24> text;
    const auto end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    text_.literal(std::string_view(text.data(), end));
  }

  /// Throws kCorrupt for a list of structs without fields: such elements take no bytes, so a sender could claim any
  /// number of them.
  void refuse_empty(const std::string& name) const {
    const StructType* found = schema_.find(name);
    if (found != nullptr && found->fields.empty()) throw Error(Code::kCorrupt, "a list of empty structs '{}'", name);
  }

  const Schema& schema_;
  BinaryReader reader_;
  JsonText text_;
};

}  // namespace

std::string json_from_binary(const Schema& schema, std::span<const std::byte> body, int indent) {
  std::string out;
  Decoder(schema, body, out, indent).decode();
  return out;
}

void append_json(const Schema& schema, std::span<const std::byte> body, std::string& out) {
  Decoder(schema, body, out, -1).decode();
}

}  // namespace trainyard
