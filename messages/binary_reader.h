// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "messages/binary_writer.h"
#include "messages/message_field.h"
#include "messages/tensor.h"
#include "messages/words.h"

namespace trainyard {

/// The description of an encoded tensor. The body of a message contains only this description; the bytes of the tensor
/// follow the body in a separate frame, a payload. The struct is for programs that have only the body, such as a viewer
/// that does not ask for payloads.
struct TensorPlace {
  /// The element type. It is always a valid DType, because BinaryReader refuses all other numbers.
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::uint32_t payload = 0;  ///< The index of the payload, or kNoPayload if there is none.
  /// The distance in bytes from the start of the payload to the first element. BinaryReader does not check it against
  /// the size of the payload.
  std::uint64_t offset = 0;
  /// The number of bytes that `dtype` and `shape` require. BinaryReader has checked that it does not overflow.
  std::size_t bytes = 0;
};

/// The cereal input archive that reads the binary form of messages (docs/wire_format.md). It does not trust its input:
/// it checks every count against the remaining bytes before it allocates memory, and every tensor against the payload
/// that it refers to. For malformed bytes it throws kCorrupt, in most cases with the byte offset.
///
/// If the reader throws, the message being read is only partly filled and must be discarded. The time and memory for
/// reading are proportional to the actual size of the body, whatever counts it claims. cereal finds the load functions
/// below by argument-dependent lookup. If there is no load function for the type of a field, the code does not compile.
class BinaryReader : public cereal::InputArchive<BinaryReader, cereal::AllowEmptyClassElision> {
 public:
  /// `body` and `payloads` must outlive the reader. The tensors that are read share the buffers of `payloads`, whose
  /// bytes are not copied.
  BinaryReader(std::span<const std::byte> body, std::span<const Buffer> payloads)
      : cereal::InputArchive<BinaryReader, cereal::AllowEmptyClassElision>(this), body_(body), payloads_(payloads) {}

  /// Copies the next `size` bytes to `data`. Throws kCorrupt if fewer bytes remain.
  void read(void* data, std::size_t size) {
    if (size > remaining()) throw_truncated(size);
    if (size != 0) std::memcpy(data, body_.data() + position_, size);
    position_ += size;
  }

  /// Reads a number of type T from the next sizeof(T) bytes, which need not be aligned. No bytes are swapped, since the
  /// wire format and the machine are little-endian. Throws kCorrupt if fewer bytes remain.
  template <class T>
  T read_number() {
    T value;
    read(&value, sizeof value);
    return value;
  }

  /// Reads the count of a list whose elements take at least `element_bytes` each. Throws kCorrupt if the remaining
  /// bytes cannot hold that many elements.
  std::size_t read_count(std::size_t element_bytes);
  /// Reads one byte as a bool. Throws kCorrupt if the byte is neither 0 nor 1, because any other value in a bool would
  /// be undefined behaviour.
  bool read_bool();
  /// Reads a string and returns a view of its bytes in the body, without a copy. Throws kCorrupt if the body ends
  /// before the string does.
  std::string_view read_text();
  /// Reads a value of an enumeration that is encoded as a word. Throws kCorrupt for a word that the enumeration does
  /// not have.
  template <Worded E>
  E read_word() {
    const std::size_t start = position_;
    const std::string_view word = read_text();
    if (const std::optional<E> value = find_by_name<E>(word)) return *value;
    throw_unknown_word(start, describe_unknown_word(word, kWords<E>.noun, kWords<E>.values));
  }
  /// Reads a tensor, which then shares the buffer of its payload. A tensor without a payload gets an empty buffer.
  /// Throws kCorrupt if the description is malformed, or if the bytes are not completely inside the payload.
  void read_tensor(Tensor& tensor);
  /// Reads the description of a tensor without accessing the payload, for programs that have only the body. Throws
  /// kCorrupt if the description is malformed.
  TensorPlace read_tensor_place();

  /// Returns the number of bytes of the body that have not been read yet.
  std::size_t remaining() const { return body_.size() - position_; }

  /// Throws kCorrupt to report that a map contains `key` twice. Such a map is refused, because different readers could
  /// keep different values.
  [[noreturn]] void throw_repeated(const std::string& key) const;

  /// Throws kCorrupt if unread bytes remain, because a message consists of exactly its fields.
  void finish() const;

 private:
  [[noreturn]] void throw_truncated(std::size_t wanted) const;
  [[noreturn]] static void throw_unknown_word(std::size_t start, const std::string& what);

  std::span<const std::byte> body_;
  std::span<const Buffer> payloads_;
  // The index of the next byte, never beyond the end of body_.
  std::size_t position_ = 0;
};

// cereal calls prologue() before it reads a value of any type. The call checks, at compile time, that the type may be
// in a message.
template <class T>
void prologue(BinaryReader&, const T&) {
  require_message_field<T>();
}
template <class T>
void epilogue(BinaryReader&, const T&) {}

template <class T>
requires std::is_arithmetic_v<T>
void CEREAL_LOAD_FUNCTION_NAME(BinaryReader& archive, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    value = archive.read_bool();
  } else {
    value = archive.read_number<T>();
  }
}

// Names are not on the wire. A field is identified by its position alone, and the fingerprint ensures that both ends
// agree on the order of the fields.
template <class T>
void CEREAL_LOAD_FUNCTION_NAME(BinaryReader& archive, cereal::NameValuePair<T>& field) {
  archive(field.value);
}

// A string is read as bytes. Whether they are valid UTF-8 matters only when they are shown.
inline void CEREAL_LOAD_FUNCTION_NAME(BinaryReader& archive, std::string& text) {
  text.resize(archive.read_count(1));
  archive.read(text.data(), text.size());
}

template <Worded E>
void CEREAL_LOAD_FUNCTION_NAME(BinaryReader& archive, E& value) {
  value = archive.read_word<E>();
}

template <class T>
void CEREAL_LOAD_FUNCTION_NAME(BinaryReader& archive, std::vector<T>& list) {
  static_assert(!std::is_empty_v<T>, "a list of empty structs could claim any length at no cost");
  if constexpr (std::is_arithmetic_v<T>) {
    list.resize(archive.read_count(sizeof(T)));
    archive.read(list.data(), list.size() * sizeof(T));
  } else {
    // An element takes at least one byte, since empty structs are refused above.
    const std::size_t count = archive.read_count(1);
    // The list grows element by element, so that its memory is limited by the bytes read, whatever count the message
    // claims.
    list.clear();
    for (std::size_t i = 0; i < count; ++i) archive(list.emplace_back());
  }
}

template <class T>
void CEREAL_LOAD_FUNCTION_NAME(BinaryReader& archive, std::map<std::string, T>& map) {
  // An entry takes at least four bytes, for the length of its key.
  const std::size_t count = archive.read_count(sizeof(std::uint32_t));
  map.clear();
  for (std::size_t i = 0; i < count; ++i) {
    std::string key;
    archive(key);
    const auto [entry, is_new] = map.try_emplace(std::move(key));
    if (!is_new) archive.throw_repeated(entry->first);
    archive(entry->second);
  }
}

// An optional is one byte, followed by the value if there is one.
template <class T>
void CEREAL_LOAD_FUNCTION_NAME(BinaryReader& archive, std::optional<T>& optional) {
  if (archive.read_bool()) {
    archive(optional.emplace());
  } else {
    optional.reset();
  }
}

inline void CEREAL_LOAD_FUNCTION_NAME(BinaryReader& archive, Tensor& tensor) { archive.read_tensor(tensor); }

}  // namespace trainyard

template <trainyard::Worded E>
struct cereal::specialize<trainyard::BinaryReader, E, cereal::specialization::non_member_load_save> {};

// Enumerations without words are read and written as their underlying type. cereal requires that the archives for
// reading and for writing are declared as a pair.
CEREAL_SETUP_ARCHIVE_TRAITS(trainyard::BinaryReader, trainyard::BinaryWriter)
