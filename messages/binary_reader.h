#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "messages/binary_writer.h"
#include "messages/message_field.h"
#include "messages/tensor.h"

namespace trainyard {

/// What a body says of a tensor: everything but the bytes. For those who have the body alone, like a viewer that
/// subscribed without payloads.
struct TensorPlace {
  // One that exists: others have been refused.
  DType dtype = DType::kFloat32;
  std::vector<std::int64_t> shape;
  std::uint32_t payload = 0;  ///< Index, or kNoPayload.
  // In bytes; not yet compared with any payload.
  std::uint64_t offset = 0;
  std::size_t bytes = 0;  ///< What dtype and shape need; known not to overflow.
};

/// The cereal input archive of the wire. Trusts nothing: every count is checked against the bytes that remain before
/// memory is taken for it, and every tensor against the payload it refers to. Throws kCorrupt, with the byte offset.
///
/// The message that is being read is half filled when it throws, and must be thrown away. Reading takes time and memory
/// proportional to the body, whatever the body claims. cereal finds the functions below by argument-dependent lookup; a
/// field of a type without one does not compile.
class BinaryReader : public cereal::InputArchive<BinaryReader, cereal::AllowEmptyClassElision> {
 public:
  /// Both must outlive the reader. Tensors that are read share the buffers of `payloads`; no bytes are copied.
  BinaryReader(std::span<const std::byte> body, std::span<const Buffer> payloads)
      : cereal::InputArchive<BinaryReader, cereal::AllowEmptyClassElision>(this), body_(body), payloads_(payloads) {}

  /// Copies the next `size` bytes; throws if fewer remain.
  void read(void* data, std::size_t size) {
    if (size > remaining()) throw_truncated(size);
    if (size != 0) std::memcpy(data, body_.data() + position_, size);
    position_ += size;
  }

  /// The next number, of the width of T; the body need not be aligned. No byte is swapped: both ends are little-endian.
  template <class T>
  T read_number() {
    T value;
    read(&value, sizeof value);
    return value;
  }

  /// A count of elements that take at least `element_bytes` each; throws if they cannot all be there.
  std::size_t read_count(std::size_t element_bytes);
  /// One byte that must be 0 or 1: any other pattern in a bool would be undefined behaviour.
  bool read_bool();
  /// A tensor over one of the payloads; throws if it does not lie wholly within.
  void read_tensor(Tensor& tensor);
  /// The same without looking for the payload, for those who have only the body.
  TensorPlace read_tensor_place();

  /// Bytes not read yet.
  std::size_t remaining() const { return body_.size() - position_; }

  /// For the reader of a map that meets `key` for the second time: two readers might keep different values.
  [[noreturn]] void throw_repeated(const std::string& key) const;

  /// Throws if bytes are left over: a message is exactly its fields.
  void finish() const;

 private:
  [[noreturn]] void throw_truncated(std::size_t wanted) const;

  std::span<const std::byte> body_;
  std::span<const Buffer> payloads_;
  // Of the next byte; never beyond the end of body_.
  std::size_t position_ = 0;
};

// cereal calls prologue before every value: the place to refuse, at compile time, what no message may hold.
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

// Names are not on the wire: order alone says which field is meant, and the fingerprint that both ends agree on it.
template <class T>
void CEREAL_LOAD_FUNCTION_NAME(BinaryReader& archive, cereal::NameValuePair<T>& field) {
  archive(field.value);
}

// Bytes, not characters: whether they are UTF-8 is for those who show them.
inline void CEREAL_LOAD_FUNCTION_NAME(BinaryReader& archive, std::string& text) {
  text.resize(archive.read_count(1));
  archive.read(text.data(), text.size());
}

template <class T>
void CEREAL_LOAD_FUNCTION_NAME(BinaryReader& archive, std::vector<T>& list) {
  static_assert(!std::is_empty_v<T>, "a list of empty structs could claim any length at no cost");
  if constexpr (std::is_arithmetic_v<T>) {
    list.resize(archive.read_count(sizeof(T)));
    archive.read(list.data(), list.size() * sizeof(T));
  } else {
    // An element takes one byte at least, since empty structs are refused above.
    const std::size_t count = archive.read_count(1);
    list.clear();  // Grown one by one: memory follows the bytes read, not the count claimed.
    for (std::size_t i = 0; i < count; ++i) archive(list.emplace_back());
  }
}

template <class T>
void CEREAL_LOAD_FUNCTION_NAME(BinaryReader& archive, std::map<std::string, T>& map) {
  // An entry takes four bytes at least: the length of its key.
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

// One byte, then the value if there is one.
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

// Enums travel as their underlying type; cereal checks that reading mirrors writing.
CEREAL_SETUP_ARCHIVE_TRAITS(trainyard::BinaryReader, trainyard::BinaryWriter)
