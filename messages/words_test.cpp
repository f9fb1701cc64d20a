// SPDX-License-Identifier: Apache-2.0
#include "messages/words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <vector>

#include "messages/json.h"
#include "messages/message_type.h"

namespace trainyard::testing {
namespace {

enum class Season : std::uint8_t { kSpring, kSummer, kAutumn, kWinter };
constexpr auto words_of(Season) { return words("season", "spring", "summer", "autumn", "winter"); }

/// A message with enumerations with words at every place that a field allows.
struct Journey {
  static constexpr const char* kTypeName = "Journey";

  Season season = Season::kWinter;
  std::vector<Season> others;
  std::map<std::string, Season> by_country;
  std::optional<Season> maybe;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(season), CEREAL_NVP(others), CEREAL_NVP(by_country), CEREAL_NVP(maybe));
  }
};

/// The same message with strings, as a client that does not have the enumerations would declare it.
struct Text {
  static constexpr const char* kTypeName = "Journey";

  std::string season;
  std::vector<std::string> others;
  std::map<std::string, std::string> by_country;
  std::optional<std::string> maybe;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(season), CEREAL_NVP(others), CEREAL_NVP(by_country), CEREAL_NVP(maybe));
  }
};

template <class T>
std::string bytes_of(const T& message) {
  std::string body;
  std::vector<Buffer> payloads;
  encode(message, body, payloads);
  return body;
}

TEST(WordsTest, AValueAndItsWordStandForEachOther) {
  EXPECT_EQ(name_of(Season::kAutumn), "autumn");
  EXPECT_EQ(from_name<Season>("autumn"), Season::kAutumn);
  EXPECT_EQ(find_by_name<Season>("autumn"), Season::kAutumn);
  EXPECT_EQ(find_by_name<Season>("fall"), std::nullopt);
}

TEST(WordsTest, AnUnknownWordIsRefusedWithTheNearestAndAllThatAreKnown) {
  try {
    from_name<Season>("sumer");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kInvalidArgument);
    EXPECT_STREQ(error.what(), "unknown season 'sumer'; did you mean 'summer'? known: autumn, spring, summer, winter");
  }
}

TEST(WordsTest, WhatAStrangerGivesInPlaceOfAWordIsShownWithoutControlCharacters) {
  EXPECT_EQ(describe_unknown_word(std::string("a\0\x1b[2J\xff", 7), "season", {}),
            "unknown season 'a??[2J?'; none is known");
}

TEST(WordsTest, OnTheWireAnEnumerationIsTheStringOfItsWord) {
  EXPECT_EQ(message_type<Journey>().schema_text, message_type<Text>().schema_text);
  EXPECT_EQ(message_type<Journey>().fingerprint, message_type<Text>().fingerprint);
  const Journey journey{
      Season::kSpring, {Season::kSummer, Season::kAutumn}, {{"Peru", Season::kWinter}}, Season::kSummer};
  const Text text{"spring", {"summer", "autumn"}, {{"Peru", "winter"}}, "summer"};
  EXPECT_EQ(bytes_of(journey), bytes_of(text));
}

TEST(WordsTest, JsonShowsWordsAndTakesThem) {
  const std::string json = R"({"season":"autumn","others":["spring"],"by_country":{"Peru":"winter"},"maybe":null})";
  const auto read = from_json<Journey>(json);
  EXPECT_EQ(read.season, Season::kAutumn);
  EXPECT_EQ(read.others, std::vector<Season>{Season::kSpring});
  EXPECT_EQ(to_json(read), json);
}

TEST(WordsTest, AMessageWithAnUnknownWordIsRefusedAndSaysAtWhichByte) {
  const std::string body = bytes_of(Text{"spring", {"sumer"}, {}, {}});
  Journey journey;
  try {
    decode(journey, std::as_bytes(std::span(body)));
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kCorrupt);
    EXPECT_THAT(error.what(), ::testing::StartsWith("message has an unknown word at byte 14: unknown season 'sumer'; "
                                                    "did you mean 'summer'?"));
  }
}

TEST(WordsTest, JsonWithAnUnknownOrMissingWordIsTheFaultOfWhoGaveIt) {
  for (const char* json : {R"({"season":"sumer"})", "{}"}) {
    try {
      from_json<Journey>(json);
      FAIL() << json;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::kInvalidArgument);
      EXPECT_THAT(error.what(), ::testing::HasSubstr("unknown season"));
    }
  }
}

}  // namespace
}  // namespace trainyard::testing
