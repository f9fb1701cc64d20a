// SPDX-License-Identifier: Apache-2.0
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
#include "messages/words.h"

namespace trainyard {

/// The cereal output archive of the wire format: little-endian, with fixed widths, without padding and without names
/// (docs/wire_format.md).
///
/// The writer appends to a string, the body, which the caller owns. A caller that reuses the string can write many
/// messages without allocating memory. The writer does not copy the buffers of tensors: it lists each distinct buffer
/// once in `payloads`, and the body contains only the index of the buffer.
///
/// BinaryReader reads this format. The time to write a message is proportional to the size of the body, which does not
/// depend on the number of elements in the tensors.
class BinaryWriter : public cereal::OutputArchive<BinaryWriter, cereal::AllowEmptyClassElision> {
 public:
  /// `body` and `payloads` must outlive the writer. They need not be empty: the writer appends to them.
  BinaryWriter(std::string& body, std::vector<Buffer>& payloads)
      : cereal::OutputArchive<BinaryWriter, cereal::AllowEmptyClassElision>(this), body_(body), payloads_(payloads) {}

  /// Appends `size` bytes unchanged.
  void write(const void* data, std::size_t size) { body_.append(static_cast<const char*>(data), size); }

  /// Appends the bytes of the number as they are in memory. A static_assert in binary_writer.cpp ensures that the
  /// machine is little-endian.
  template <class T>
  void write_number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    write(&value, sizeof value);
  }

  /// Appends the number of elements or bytes that follow. Throws kInvalidArgument if the number exceeds 2^32 - 1.
  void write_count(std::size_t count);

  /// Appends the tensor's dtype, shape, payload index and offset, and lists its buffer as a payload. Throws
  /// kInvalidArgument if the tensor has too many dimensions, or the message too many distinct buffers.
  void write_tensor(const Tensor& tensor);

 private:
  /// Returns the index of `buffer` among the payloads, after adding the buffer if it is new.
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

// CEREAL_NVP supplies the name to the schema and to JSON; here only the value is written.
template <class T>
void CEREAL_SAVE_FUNCTION_NAME(BinaryWriter& archive, const cereal::NameValuePair<T>& field) {
  archive(field.value);
}

inline void CEREAL_SAVE_FUNCTION_NAME(BinaryWriter& archive, const std::string& text) {
  archive.write_count(text.size());
  archive.write(text.data(), text.size());
}

// An enumeration with words is written like a string, so that clients in other languages need no table of numbers.
template <Worded E>
void CEREAL_SAVE_FUNCTION_NAME(BinaryWriter& archive, const E& value) {
  const std::string_view word = name_of(value);
  archive.write_count(word.size());
  archive.write(word.data(), word.size());
}

template <class T>
void CEREAL_SAVE_FUNCTION_NAME(BinaryWriter& archive, const std::vector<T>& list) {
  // std::vector<bool> stores no bytes that could be copied.
  static_assert(!std::is_same_v<T, bool>, "use std::vector<std::uint8_t> for flags");
  archive.write_count(list.size());
  if constexpr (std::is_arithmetic_v<T>) {
    // Numbers are copied in one piece, because long lists usually consist of numbers.
    archive.write(list.data(), list.size() * sizeof(T));
  } else {
    for (const T& element : list) archive(element);
  }
}

template <class T>
void CEREAL_SAVE_FUNCTION_NAME(BinaryWriter& archive, const std::map<std::string, T>& map) {
  archive.write_count(map.size());
  // std::map iterates by ascending key, so equal maps have equal bytes.
  for (const auto& [key, value] : map) archive(key, value);
}

template <class T>
void CEREAL_SAVE_FUNCTION_NAME(BinaryWriter& archive, const std::optional<T>& optional) {
  archive.write_number(static_cast<std::uint8_t>(optional.has_value()));
  if (optional) archive(*optional);
}

inline void CEREAL_SAVE_FUNCTION_NAME(BinaryWriter& archive, const Tensor& tensor) { archive.write_tensor(tensor); }

}  // namespace trainyard

// cereal would write the number of every enumeration. For an enumeration with words, the function above is used
// instead.
template <trainyard::Worded E>
struct cereal::specialize<trainyard::BinaryWriter, E, cereal::specialization::non_member_load_save> {};
