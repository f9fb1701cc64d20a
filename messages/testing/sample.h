// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "messages/message_field.h"
#include "messages/tensor.h"
#include "messages/testing/oracle.h"

namespace trainyard::testing {

/// A cereal input archive that invents a value for every field of a message. The values are random but depend only on
/// the seed.
class SampleArchive : public cereal::InputArchive<SampleArchive, cereal::AllowEmptyClassElision> {
 public:
  /// The same seed produces the same message on every machine.
  explicit SampleArchive(std::uint64_t seed)
      : cereal::InputArchive<SampleArchive, cereal::AllowEmptyClassElision>(this), random_(seed) {}

  /// Returns 64 random bits. mt19937_64 produces the same bits with every standard library.
  std::uint64_t bits() { return random_(); }

  /// Returns a small count, sometimes zero.
  std::size_t count() { return bits() % 4; }

  /// Returns up to 11 characters of printable ASCII, which JSON shows without replacement.
  std::string text() {
    std::string made(bits() % 12, ' ');
    for (char& c : made) c = static_cast<char>(' ' + bits() % 95);
    return made;
  }

  /// Returns a tensor of any dtype. Its bytes stay below 0x80, so that the oracle can show them as text.
  Tensor tensor() {
    if (count() == 0) return {DType::kInt16, {3, 0, 2}, 0, {}};  // This tensor has no bytes and thus no payload.
    Tensor made = Tensor::empty(static_cast<DType>(bits() % 10), {1 + static_cast<std::int64_t>(count()), 3});
    std::memset(made.data(), static_cast<int>(bits() & 0x7f), made.bytes());
    return made;
  }

 private:
  std::mt19937_64 random_;
};

template <class T>
void prologue(SampleArchive&, const T&) {}
template <class T>
void epilogue(SampleArchive&, const T&) {}

template <class T>
requires std::is_arithmetic_v<T>
void CEREAL_LOAD_FUNCTION_NAME(SampleArchive& archive, T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    value = (archive.bits() & 1) != 0;
  } else if constexpr (std::is_floating_point_v<T>) {
    // The number has few digits, so that every library prints the same digits.
    value = static_cast<T>(static_cast<std::int16_t>(archive.bits())) / T{4};
  } else {
    value = static_cast<T>(archive.bits());
  }
}

template <class T>
void CEREAL_LOAD_FUNCTION_NAME(SampleArchive& archive, cereal::NameValuePair<T>& field) {
  archive(field.value);
}

inline void CEREAL_LOAD_FUNCTION_NAME(SampleArchive& archive, std::string& text) { text = archive.text(); }

template <Worded E>
void CEREAL_LOAD_FUNCTION_NAME(SampleArchive& archive, E& value) {
  value = static_cast<E>(archive.bits() % kWords<E>.values.size());
}

// Lists have up to three elements, and sometimes none, which is enough for every path of an encoder.
template <class T>
void CEREAL_LOAD_FUNCTION_NAME(SampleArchive& archive, std::vector<T>& list) {
  list.resize(archive.count());
  for (T& element : list) archive(element);
}

template <class T>
void CEREAL_LOAD_FUNCTION_NAME(SampleArchive& archive, std::map<std::string, T>& map) {
  map.clear();
  for (std::size_t left = archive.count(); left > 0; --left) archive(map[archive.text()]);
}

template <class T>
void CEREAL_LOAD_FUNCTION_NAME(SampleArchive& archive, std::optional<T>& optional) {
  optional.reset();
  if (archive.count() != 0) archive(optional.emplace());
}

inline void CEREAL_LOAD_FUNCTION_NAME(SampleArchive& archive, Tensor& tensor) { tensor = archive.tensor(); }

/// Returns a message with random values in all fields. Lists, maps and optionals may be empty.
template <Message T>
T sample(std::uint64_t seed) {
  T made;
  SampleArchive archive(seed);
  archive(made);
  return made;
}

}  // namespace trainyard::testing

template <trainyard::Worded E>
struct cereal::specialize<trainyard::testing::SampleArchive, E, cereal::specialization::non_member_load_save> {};

// cereal reads enumerations only if it knows which archive would have written them.
CEREAL_SETUP_ARCHIVE_TRAITS(trainyard::testing::SampleArchive, trainyard::testing::OracleArchive)
