// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/tensor.h"

namespace trainyard::testing {

/// An enumeration wider than a byte, with a value that needs both bytes. It is encoded as its underlying type.
enum class Colour : std::uint16_t { kRed = 1, kBlue = 515 };

/// A struct that appears in lists, in optionals and in the message itself.
struct Inner {
  static constexpr const char* kTypeName = "Inner";

  std::string name;
  float value = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(name), CEREAL_NVP(value));
  }
};

/// A message with a field of every kind, since no message of Trainyard has them all.
struct Everything {
  static constexpr const char* kTypeName = "Everything";

  bool flag = false;
  std::int8_t i8 = 0;
  std::int16_t i16 = 0;
  std::int32_t i32 = 0;
  std::int64_t i64 = 0;
  std::uint8_t u8 = 0;
  std::uint16_t u16 = 0;
  std::uint32_t u32 = 0;
  std::uint64_t u64 = 0;
  float f32 = 0;
  double f64 = 0;
  Colour colour{};
  std::string text;
  Tensor tensor;
  Inner inner;
  std::vector<double> numbers;
  std::vector<Inner> inners;
  std::map<std::string, std::vector<std::int32_t>> table;
  std::optional<Inner> maybe;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(flag), CEREAL_NVP(i8), CEREAL_NVP(i16), CEREAL_NVP(i32), CEREAL_NVP(i64), CEREAL_NVP(u8),
            CEREAL_NVP(u16), CEREAL_NVP(u32), CEREAL_NVP(u64), CEREAL_NVP(f32), CEREAL_NVP(f64), CEREAL_NVP(colour));
    archive(CEREAL_NVP(text), CEREAL_NVP(tensor), CEREAL_NVP(inner), CEREAL_NVP(numbers), CEREAL_NVP(inners),
            CEREAL_NVP(table), CEREAL_NVP(maybe));
  }
};

}  // namespace trainyard::testing
