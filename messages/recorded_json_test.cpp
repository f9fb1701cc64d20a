// SPDX-License-Identifier: Apache-2.0
#include "messages/recorded_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "messages/error.h"
#include "messages/json.h"
#include "messages/testing/all_messages.h"
#include "messages/testing/sample.h"

namespace trainyard {
namespace {

TEST(RecordedJsonTest, BringsEveryMessageBackToTheSameBytes) {
  testing::for_each_message([]<class T>() {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      std::string body, json;
      std::vector<Buffer> payloads;
      encode(testing::sample<T>(seed), body, payloads);
      const Schema schema = SchemaBuilder::build<T>();
      append_json(schema, std::as_bytes(std::span(body)), json);
      EXPECT_EQ(binary_from_recorded_json(schema, nlohmann::json::parse(json)), body) << T::kTypeName << ": " << json;
    }
  });
}

TEST(RecordedJsonTest, AppendsTheTextOfJsonFromBinary) {
  std::string body;
  std::vector<Buffer> payloads;
  encode(testing::sample<testing::Everything>(3), body, payloads);
  const Schema schema = SchemaBuilder::build<testing::Everything>();
  std::string text = "before ";
  append_json(schema, std::as_bytes(std::span(body)), text);
  EXPECT_EQ(text, "before " + json_from_binary(schema, std::as_bytes(std::span(body))));
}

TEST(RecordedJsonTest, RefusesTensorsThatAreNotDescribedAsTheyShouldBe) {
  const Schema schema = parse_schema("Holder {\n  Tensor data\n}\n");
  const auto error = [&](const char* tensor) -> std::string {
    try {
      binary_from_recorded_json(schema, {{"data", nlohmann::json::parse(tensor)}});
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error("3"), "Holder.data is 3; an object is allowed");
  EXPECT_EQ(error(R"({"dtype": "float31", "shape": []})"), "Holder.data has an unknown dtype");
  EXPECT_EQ(error(R"({"dtype": "float32", "shape": 3})"), "Holder.data has a shape that is no list of at most 16");
  EXPECT_EQ(error(R"({"dtype": "float32", "shape": [1.5]})"),
            "Holder.data is 1.5; an integer from -9223372036854775808 to 9223372036854775807 is allowed");
}

}  // namespace
}  // namespace trainyard
