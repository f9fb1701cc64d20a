// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/tensor_bytes.h"

#include <gtest/gtest.h>

#include <cereal/cereal.hpp>
#include <map>
#include <optional>

#include "launch/testing/expect_error.h"
#include "messages/error.h"
#include "messages/message_type.h"

namespace trainyard::tools {
namespace {

/// A message with fields of every kind before the tensors, which the code under test must skip.
struct Cargo {
  static constexpr const char* kTypeName = "Cargo";
  struct Box {
    static constexpr const char* kTypeName = "Box";
    std::string label;
    Tensor tensor;
    template <class Archive>
    void serialize(Archive& archive) {
      archive(CEREAL_NVP(label), CEREAL_NVP(tensor));
    }
  };

  bool flag = true;
  std::uint8_t small = 1;
  std::int16_t middle = -2;
  float real = 3;
  std::uint64_t large = 4;
  std::map<std::string, double> numbers{{"a", 1}, {"b", 2}};
  std::optional<Tensor> maybe;
  std::vector<Box> boxes;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(flag), CEREAL_NVP(small), CEREAL_NVP(middle), CEREAL_NVP(real), CEREAL_NVP(large),
            CEREAL_NVP(numbers), CEREAL_NVP(maybe), CEREAL_NVP(boxes));
  }
};

std::uint64_t bytes_of(const Cargo& cargo) {
  std::string body;
  std::vector<Buffer> payloads;
  encode(cargo, body, payloads);
  return tensor_bytes(SchemaBuilder::build<Cargo>(), std::as_bytes(std::span(body)));
}

TEST(TensorBytesTest, AddsUpTheTensorsOfAMessageWhereverTheyAre) {
  EXPECT_EQ(bytes_of({}), 0u);
  const Tensor first = Tensor::empty(DType::kFloat32, {3, 5});
  const Tensor second = Tensor::empty(DType::kUInt8, {7});
  EXPECT_EQ(bytes_of({.maybe = first}), 60u);
  EXPECT_EQ(bytes_of({.maybe = first, .boxes = {{"one", second}, {"the same again", second}, {"none", Tensor{}}}}),
            67u);
}

TEST(TensorBytesTest, RefusesWhatDoesNotMatchTheSchema) {
  const std::string body = "too short";
  EXPECT_THROW(tensor_bytes(SchemaBuilder::build<Cargo>(), std::as_bytes(std::span(body))), Error);
}

}  // namespace
}  // namespace trainyard::tools
