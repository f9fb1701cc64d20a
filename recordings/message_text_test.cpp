// SPDX-License-Identifier: Apache-2.0
#include "recordings/message_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "messages/testing/all_messages.h"
#include "messages/testing/sample.h"
#include "recordings/base64.h"
#include "recordings/testing/files.h"
#include "recordings/viewer_schema.h"

namespace trainyard::recordings {
namespace {

using nlohmann::json;
using testing::error_of;

std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

TEST(MessageTextTest, BringsEveryMessageBackWithItsTraceAndItsPayloads) {
  trainyard::testing::for_each_message([]<class T>() {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      std::string body, text;
      std::vector<Buffer> payloads;
      encode(trainyard::testing::sample<T>(seed), body, payloads);
      std::vector<std::string_view> views;
      for (const Buffer& payload : payloads) {
        views.emplace_back(reinterpret_cast<const char*>(payload.data()), payload.size());
      }
      const Schema schema = SchemaBuilder::build<T>();
      append_message(schema, bytes_of(body), seed << 48 | 5, views, text);
      const RestoredMessage restored = restore_message(schema, text);
      EXPECT_EQ(restored.body, body) << text;
      EXPECT_EQ(restored.trace, seed << 48 | 5);
      EXPECT_EQ(restored.payloads, std::vector<std::string>(views.begin(), views.end()));
    }
  });
}

TEST(MessageTextTest, PutsTheTraceBesideTheFields) {
  const Schema schema = parse_schema("Step {\n  u64 step\n}\n");
  const std::string body("\7\0\0\0\0\0\0\0", 8);
  std::string text;
  append_message(schema, bytes_of(body), 0x000100000000002a, {}, text);
  EXPECT_EQ(text, R"({"step":7,"_trace":"000100000000002a"})");
  text.clear();
  append_message(schema, bytes_of(body), 0, {}, text);
  EXPECT_EQ(text, R"({"step":7})");
}

TEST(MessageTextTest, KnowsHowManyPayloadsAMessageWithoutTheirBytesHas) {
  const Schema schema = parse_schema("Pair {\n  list<Tensor> tensors\n}\n");
  const RestoredMessage restored =
      restore_message(schema, R"({"tensors":[{"dtype":"uint8","shape":[2],"payload":1,"offset":0},)"
                              R"({"dtype":"uint8","shape":[2],"payload":null,"offset":0}]})");
  EXPECT_EQ(restored.payloads, (std::vector<std::string>{"", ""}));
}

TEST(MessageTextTest, LeavesTheTextAsItWasIfABodyIsCorrupt) {
  const Schema schema = parse_schema("Step {\n  u64 step\n  u64 other\n}\n");
  std::string text = "before";
  EXPECT_NE(error_of([&] { append_message(schema, bytes_of("12345678"), 1, {}, text); }), "");
  EXPECT_EQ(text, "before");
}

TEST(MessageTextTest, NamesWhatIsWrongWithARecordedMessage) {
  const Schema schema = parse_schema("Step {\n  u64 step\n}\n");
  const auto error = [&](const char* text) { return error_of([&] { restore_message(schema, text); }); };
  EXPECT_EQ(error(R"({"stop":7})"),
            "a recorded message does not match its schema: Step has no field 'stop'; its fields: step");
  EXPECT_EQ(error("{").substr(0, 33), "a recorded message is not JSON: [");
  EXPECT_EQ(error("7").substr(0, 44), "a recorded message does not match its schema");
  EXPECT_NE(error(R"({"step":7,"_trace":"xyz"})"), "");
  EXPECT_NE(error(R"({"step":7,"_payloads":["x"]})"), "");
}

TEST(MessageTextTest, KnowsTypesThatUseTheNamesThemselves) {
  EXPECT_TRUE(uses_reserved_names(parse_schema("Odd {\n  u64 _trace\n}\n")));
  EXPECT_FALSE(uses_reserved_names(parse_schema("Even {\n  u64 trace\n}\n")));
}

TEST(Base64Test, AgreesWithTheExamplesOfTheStandard) {
  const std::string word = "foobar";
  const std::vector<std::string> texts{"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
  for (std::size_t length = 0; length < texts.size(); ++length) {
    std::string made;
    append_base64(word.substr(0, length), made);
    EXPECT_EQ(made, texts[length]);
    EXPECT_EQ(bytes_of_base64(texts[length]), word.substr(0, length));
  }
  for (const char* wrong : {"Zg=", "Z", "Zg=a", "Z*==", "====", "Zg==Zg=="}) {
    EXPECT_EQ(bytes_of_base64(wrong), std::nullopt) << wrong;
  }
}

/// Fails if the schema uses a feature of JSON Schema that viewers of MCAP files do not understand.
void expect_plain(const json& schema, const std::string& path) {
  ASSERT_TRUE(schema.contains("type") && schema["type"].is_string()) << path;
  if (schema["type"] == "array") {
    EXPECT_NE(schema["items"]["type"], "array") << path;
    expect_plain(schema["items"], path + "[]");
  }
  if (schema["type"] != "object") return;
  ASSERT_TRUE(schema["properties"].is_object()) << path;
  for (const auto& [name, property] : schema["properties"].items()) expect_plain(property, path + "." + name);
}

TEST(ViewerSchemaTest, DescribesEveryMessageInThePlainPartOfJsonSchema) {
  trainyard::testing::for_each_message([]<class T>() {
    const json schema = json::parse(to_viewer_schema(SchemaBuilder::build<T>()));
    expect_plain(schema, T::kTypeName);
    EXPECT_EQ(schema["title"], T::kTypeName);
    EXPECT_EQ(schema["properties"][kTraceField]["type"], "string");
  });
}

TEST(ViewerSchemaTest, StaysSmallForASchemaThatWouldGrowWithoutBounds) {
  std::string text;
  for (char name = 'A'; name < 'Z'; ++name) {
    text += std::string(1, name) + " {\n";
    for (int i = 0; i < 8; ++i)
      text += "  " + std::string(1, static_cast<char>(name + 1)) + " f" + std::to_string(i) + "\n";
    text += "}\n";
  }
  text += "Z {\n  u8 x\n}\n";
  EXPECT_LT(to_viewer_schema(parse_schema(text)).size(), 3'000'000u);
}

}  // namespace
}  // namespace trainyard::recordings
