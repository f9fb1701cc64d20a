#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/message_field.h"
#include "messages/tensor.h"

namespace trainyard {

/// The cereal output archive of the wire: little-endian, fixed-width, no padding, no names (docs/wire_format.md).
///
/// Appends to a string that the caller owns and reuses, so that a steady stream of messages allocates nothing. Buffers
/// of tensors are not copied: each distinct one is listed once in `payloads`, and the body refers to it by its index.
///
/// Its mirror is BinaryReader. Time is proportional to the body, and does not depend on the size of the tensors.
class BinaryWriter : public cereal::OutputArchive<BinaryWriter, cereal::AllowEmptyClassElision> {
 public:
  /// Both must outlive the writer. They need not be empty: what is there stays in front.
  BinaryWriter(std::string& body, std::vector<Buffer>& payloads)
      : cereal::OutputArchive<BinaryWriter, cereal::AllowEmptyClassElision>(this), body_(body), payloads_(payloads) {}

  /// Appends `size` bytes as they are.
  void write(const void* data, std::size_t size) { body_.append(static_cast<const char*>(data), size); }

  /// Appends the number in its native width and order; a static_assert in the .cpp holds that to little-endian.
  template <class T>
  void write_number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    write(&value, sizeof value);
  }

  /// Throws kInvalidArgument beyond 2^32 - 1 elements.
  void write_count(std::size_t count);

  /// Appends dtype, shape and place, and lists the buffer as a payload. Throws kInvalidArgument for too many buffers.
  void write_tensor(const Tensor& tensor);

 private:
  /// The number of `buffer` among the payloads, where it is added if it is new.
  std::uint32_t payload_index(const Buffer& buffer);

  std::string& body_;
  std::vector<Buffer>& payloads_;
};

template <class T>
void prologue(BinaryWriter&, const T&) {
  require_message_field<T>();
}
template <class T>
void epilogue(BinaryWriter&, const T&) {}

template <class T>
requires std::is_arithmetic_v<T>
void CEREAL_SAVE_FUNCTION_NAME(BinaryWriter& archive, const T& value) { archive.write_number(value); }

// CEREAL_NVP gives the name to the schema and to JSON; here only the value counts.
template <class T>
void CEREAL_SAVE_FUNCTION_NAME(BinaryWriter& archive, const cereal::NameValuePair<T>& field) {
  archive(field.value);
}

inline void CEREAL_SAVE_FUNCTION_NAME(BinaryWriter& archive, const std::string& text) {
  archive.write_count(text.size());
  archive.write(text.data(), text.size());
}

template <class T>
void CEREAL_SAVE_FUNCTION_NAME(BinaryWriter& archive, const std::vector<T>& list) {
  // std::vector<bool> has no bytes to copy.
  static_assert(!std::is_same_v<T, bool>, "use std::vector<std::uint8_t> for flags");
  archive.write_count(list.size());
  if constexpr (std::is_arithmetic_v<T>) {
    // Numbers go in one piece; that is most of what a long list holds.
    archive.write(list.data(), list.size() * sizeof(T));
  } else {
    for (const T& element : list) archive(element);
  }
}

template <class T>
void CEREAL_SAVE_FUNCTION_NAME(BinaryWriter& archive, const std::map<std::string, T>& map) {
  archive.write_count(map.size());
  // std::map iterates by ascending key: equal maps have equal bytes.
  for (const auto& [key, value] : map) archive(key, value);
}

template <class T>
void CEREAL_SAVE_FUNCTION_NAME(BinaryWriter& archive, const std::optional<T>& optional) {
  archive.write_number(static_cast<std::uint8_t>(optional.has_value()));
  if (optional) archive(*optional);
}

inline void CEREAL_SAVE_FUNCTION_NAME(BinaryWriter& archive, const Tensor& tensor) { archive.write_tensor(tensor); }

}  // namespace trainyard
