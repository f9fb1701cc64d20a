// SPDX-License-Identifier: Apache-2.0
// Schemas and fingerprints are part of the wire format, so these texts and numbers must not change by accident.
#include "messages/schema.h"

#include <gtest/gtest.h>

#include <set>

#include "messages/testing/all_messages.h"

namespace trainyard {
namespace {

constexpr const char* kOrderSchema = R"(Order {
  u64 id
  string kind
  string split
  u64 batches
  u64 micro_batches
  u64 epoch
  u64 total_steps
  LoaderCursor cursor
  string reason
  list<Scalar> metrics
  list<Setting> settings
  list<SavedState> states
}
LoaderCursor {
  u64 epoch
  u64 samples
}
Scalar {
  string name
  f64 value
}
Setting {
  string component
  string parameter
  string value
  string instead_of
}
SavedState {
  string owner
  u32 rank
  bool per_rank
  string values
  list<StateTensor> tensors
}
StateTensor {
  string name
  Tensor data
}
)";

constexpr const char* kEverythingSchema = R"(Everything {
  bool flag
  i8 i8
  i16 i16
  i32 i32
  i64 i64
  u8 u8
  u16 u16
  u32 u32
  u64 u64
  f32 f32
  f64 f64
  u16 colour
  string text
  Tensor tensor
  Inner inner
  list<f64> numbers
  list<Inner> inners
  map<list<i32>> table
  optional<Inner> maybe
}
Inner {
  string name
  f32 value
}
)";

template <class First, class Second>
struct Pair {
  static constexpr const char* kTypeName = "Pair";
  First first{};
  Second second{};

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(first), CEREAL_NVP(second));
  }
};

struct Renamed {
  static constexpr const char* kTypeName = "Pair";
  std::int32_t first = 0;
  std::int32_t third = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(first), CEREAL_NVP(third));
  }
};

struct Swapped {
  static constexpr const char* kTypeName = "Pair";
  std::int32_t first = 0;
  std::int32_t second = 0;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(second), CEREAL_NVP(first));
  }
};

TEST(SchemaTest, TextListsTheMessageAndThenItsStructsInOrderOfAppearance) {
  EXPECT_EQ(message_type<Order>().schema_text, kOrderSchema);
  EXPECT_EQ(message_type<testing::Everything>().schema_text, kEverythingSchema);
}

// The number was computed independently of this code, with the published FNV-1a algorithm, over the text above.
TEST(SchemaTest, FingerprintOfAnOrderIsPinned) { EXPECT_EQ(message_type<Order>().fingerprint, 0x6e08a6466098c22eull); }

// These are reference test vectors of the FNV authors.
TEST(SchemaTest, FingerprintIsFnv1a) {
  EXPECT_EQ(fingerprint(""), 0xcbf29ce484222325ull);
  EXPECT_EQ(fingerprint("a"), 0xaf63dc4c8601ec8cull);
  EXPECT_EQ(fingerprint("foobar"), 0x85944171f73967e8ull);
}

TEST(SchemaTest, FingerprintChangesWithNameTypeOrderAndNestingOfFields) {
  using I = std::int32_t;
  const std::set<std::uint64_t> different{
      message_type<Pair<I, I>>().fingerprint,
      message_type<Renamed>().fingerprint,
      message_type<Swapped>().fingerprint,
      message_type<Pair<I, std::uint32_t>>().fingerprint,
      message_type<Pair<I, std::int64_t>>().fingerprint,
      message_type<Pair<I, float>>().fingerprint,
      message_type<Pair<I, std::vector<I>>>().fingerprint,
      message_type<Pair<I, std::vector<std::vector<I>>>>().fingerprint,
      message_type<Pair<I, std::optional<I>>>().fingerprint,
      message_type<Pair<I, std::map<std::string, I>>>().fingerprint,
      message_type<Pair<I, Scalar>>().fingerprint,
      message_type<Pair<I, testing::Inner>>().fingerprint,
      message_type<Pair<I, LoaderCursor>>().fingerprint,
  };
  EXPECT_EQ(different.size(), 13u);
}

TEST(SchemaTest, EveryMessageHasAFingerprintOfItsOwn) {
  std::set<std::uint64_t> fingerprints;
  std::set<std::string> names;
  std::size_t types = 0;
  testing::for_each_message([&]<class T>() {
    fingerprints.insert(message_type<T>().fingerprint);
    names.insert(message_type<T>().name);
    ++types;
  });
  EXPECT_EQ(fingerprints.size(), types);
  EXPECT_EQ(names.size(), types);
}

TEST(SchemaTest, FindsStructsByName) {
  const Schema schema = SchemaBuilder::build<Order>();
  ASSERT_NE(schema.find("Scalar"), nullptr);
  EXPECT_EQ(schema.find("Scalar")->fields.at(1).name, "value");
  EXPECT_EQ(schema.find("Tensor"), nullptr);
}

}  // namespace
}  // namespace trainyard
