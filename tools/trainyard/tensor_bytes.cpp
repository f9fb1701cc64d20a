// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/tensor_bytes.h"

#include <set>
#include <tuple>

#include "messages/binary_reader.h"
#include "messages/error.h"
#include "messages/limits.h"

namespace trainyard::tools {
namespace {

/// Finds the tensors in the body of one message. It follows the schema and reads all fields, because the position of a
/// field depends on all fields before it.
class TensorFinder {
 public:
  TensorFinder(const Schema& schema, std::span<const std::byte> body) : schema_(schema), reader_(body, {}) {}

  std::uint64_t bytes() {
    read_struct(schema_.message(), 0);
    reader_.finish();
    return bytes_;
  }

 private:
  void read_struct(const StructType& type, std::size_t depth) {
    if (depth > kMaxNesting) throw Error(Code::kCorrupt, "message of type {} nests too deeply", type.name);
    for (const Field& field : type.fields) read(field.type, depth + 1);
  }

  void read(const FieldType& type, std::size_t depth) {
    switch (type.kind) {
      case FieldKind::kStruct:
        return read_struct(*schema_.find(type.struct_name), depth);
      case FieldKind::kTensor:
        return read_tensor();
      case FieldKind::kOptional:
        return reader_.read_bool() ? read(type.element.at(0), depth + 1) : void();
      case FieldKind::kList: {
        const std::size_t count = reader_.read_count(1);
        for (std::size_t i = 0; i < count; ++i) read(type.element.at(0), depth + 1);
        return;
      }
      case FieldKind::kMap: {
        const std::size_t count = reader_.read_count(sizeof(std::uint32_t));
        for (std::size_t i = 0; i < count; ++i) {
          reader_.read_text();
          read(type.element.at(0), depth + 1);
        }
        return;
      }
      default:
        return skip_simple(type.kind);
    }
  }

  void skip_simple(FieldKind kind) {
    switch (kind) {
      case FieldKind::kString:
        reader_.read_text();
        return;
      case FieldKind::kBool:
        reader_.read_bool();
        return;
      case FieldKind::kI8:
      case FieldKind::kU8:
        reader_.read_number<std::uint8_t>();
        return;
      case FieldKind::kI16:
      case FieldKind::kU16:
        reader_.read_number<std::uint16_t>();
        return;
      case FieldKind::kI32:
      case FieldKind::kU32:
      case FieldKind::kF32:
        reader_.read_number<std::uint32_t>();
        return;
      default:
        reader_.read_number<std::uint64_t>();
        return;
    }
  }

  void read_tensor() {
    const TensorPlace place = reader_.read_tensor_place();
    if (place.payload == kNoPayload) return;
    if (counted_.emplace(place.payload, place.offset, place.bytes).second) bytes_ += place.bytes;
  }

  const Schema& schema_;
  BinaryReader reader_;
  std::set<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>> counted_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

std::uint64_t tensor_bytes(const Schema& schema, std::span<const std::byte> body) {
  return TensorFinder(schema, body).bytes();
}

}  // namespace trainyard::tools
