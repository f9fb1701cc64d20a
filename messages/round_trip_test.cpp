// SPDX-License-Identifier: Apache-2.0
// Tests of properties that every message type of Trainyard must have, with messages in which every field has a value.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "messages/error.h"
#include "messages/json.h"
#include "messages/testing/all_messages.h"
#include "messages/testing/oracle.h"
#include "messages/testing/sample.h"

namespace trainyard {
namespace {

using testing::oracle;
using testing::sample;

constexpr std::uint64_t kSeeds = 5;

struct Encoded {
  std::string body;
  std::vector<Buffer> payloads;

  std::span<const std::byte> bytes(std::size_t length = std::string::npos) const {
    return std::as_bytes(std::span(body)).first(std::min(length, body.size()));
  }
};

template <Message T>
Encoded encoded(const T& message) {
  Encoded made;
  encode(message, made.body, made.payloads);
  return made;
}

template <class T>
class EveryMessageTest : public ::testing::Test {};

using Types = testing::AllMessages<::testing::Types>;
TYPED_TEST_SUITE(EveryMessageTest, Types);

TYPED_TEST(EveryMessageTest, ComesBackFromBinaryAsItWas) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto message = sample<TypeParam>(seed);
    const Encoded wire = encoded(message);
    TypeParam back;
    decode(back, wire.bytes(), wire.payloads);
    EXPECT_EQ(oracle(back), oracle(message)) << "seed " << seed;
    EXPECT_EQ(encoded(back).body, wire.body) << "one message, one binary form; seed " << seed;
  }
}

TYPED_TEST(EveryMessageTest, ComesBackThroughItsErasedType) {
  const MessageType& type = message_type<TypeParam>();
  const auto message = sample<TypeParam>(7);
  Encoded wire;
  type.encode(&message, wire.body, wire.payloads);
  const std::shared_ptr<void> back = type.decode(wire.bytes(), wire.payloads);
  EXPECT_EQ(oracle(*static_cast<const TypeParam*>(back.get())), oracle(message));
  EXPECT_EQ(type.payload_bytes(back.get()), type.payload_bytes(&message));
  EXPECT_EQ(type.name, TypeParam::kTypeName);
}

TYPED_TEST(EveryMessageTest, IsRefusedWhenCutAtAnyByte) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const Encoded wire = encoded(sample<TypeParam>(seed));
    for (std::size_t length = 0; length < wire.body.size(); ++length) {
      TypeParam back;
      EXPECT_THROW(decode(back, wire.bytes(length), wire.payloads), Error) << length << " of " << wire.body.size();
      EXPECT_THROW(json_from_binary(SchemaBuilder::build<TypeParam>(), wire.bytes(length)), Error) << length;
    }
  }
}

TYPED_TEST(EveryMessageTest, IsRefusedWithAByteLeftOver) {
  Encoded wire = encoded(sample<TypeParam>(1));
  wire.body += '\0';
  TypeParam back;
  try {
    decode(back, wire.bytes(), wire.payloads);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kCorrupt);
    EXPECT_STREQ(error.what(), "message has 1 bytes after its last field");
  }
}

TYPED_TEST(EveryMessageTest, HasASchemaThatReadsBackFromItsText) {
  const Schema schema = SchemaBuilder::build<TypeParam>();
  EXPECT_EQ(parse_schema(to_text(schema)), schema);
  EXPECT_EQ(schema.structs.front().name, TypeParam::kTypeName);
}

/// Converts the tree of the oracle to the form that json.h writes: the JSON of a tensor says in which payload its bytes
/// are, but does not contain them.
void show_places(nlohmann::ordered_json& shown, std::uint32_t& next_payload) {
  if (!shown.is_structured()) return;
  if (!shown.is_object() || !shown.contains("bytes") || !shown["bytes"].is_string()) {
    for (auto& inner : shown) show_places(inner, next_payload);
    return;
  }
  const bool empty = shown["bytes"].template get_ref<const std::string&>().empty();
  shown["payload"] = empty ? nlohmann::ordered_json() : nlohmann::ordered_json(next_payload++);
  shown["offset"] = 0;
  shown.erase("bytes");
}

TYPED_TEST(EveryMessageTest, ReadsAsJsonByItsSchemaAlone) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto message = sample<TypeParam>(seed);
    auto expected = oracle(message);
    std::uint32_t payloads = 0;
    show_places(expected, payloads);
    const Schema schema = parse_schema(message_type<TypeParam>().schema_text);
    const Encoded wire = encoded(message);
    EXPECT_EQ(json_from_binary(schema, wire.bytes()), expected.dump()) << "seed " << seed;
    EXPECT_EQ(json_from_binary(schema, wire.bytes(), 2), expected.dump(2)) << "seed " << seed;
  }
}

TYPED_TEST(EveryMessageTest, ComesBackFromJsonUnlessItHoldsTensors) {
  const auto message = sample<TypeParam>(3);
  if (message_type<TypeParam>().schema_text.find("Tensor") != std::string::npos) return;
  EXPECT_EQ(oracle(from_json<TypeParam>(to_json(message, 2))), oracle(message));
}

}  // namespace
}  // namespace trainyard
