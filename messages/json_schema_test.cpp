// SPDX-License-Identifier: Apache-2.0
// These tests check that the JSON of every message matches the JSON Schema of its type. They use a small validator,
// which knows only the keywords that to_json_schema() uses and fails for any other keyword.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "messages/error.h"
#include "messages/json.h"
#include "messages/testing/all_messages.h"
#include "messages/testing/sample.h"

namespace trainyard {
namespace {

using Json = nlohmann::json;

/// Checks JSON against a JSON Schema.
class Validator {
 public:
  explicit Validator(Json root) : root_(std::move(root)) {}

  bool allows(const Json& value) const { return allows(root_, value); }

 private:
  bool allows(const Json& schema, const Json& value) const {
    for (const auto& [keyword, argument] : schema.items()) {
      if (!obeys(keyword, argument, schema, value)) return false;
    }
    return true;
  }

  bool obeys(const std::string& keyword, const Json& argument, const Json& schema, const Json& value) const {
    if (keyword == "$schema" || keyword == "$defs" || keyword == "title") return true;
    if (keyword == "$ref") return allows(resolve(argument), value);
    if (keyword == "type") return has_type(argument, value);
    if (keyword == "enum") return std::find(argument.begin(), argument.end(), value) != argument.end();
    if (keyword == "minimum") return !value.is_number() || value >= argument;
    if (keyword == "maximum") return !value.is_number() || value <= argument;
    if (keyword == "anyOf") {
      return std::any_of(argument.begin(), argument.end(), [&](const Json& one) { return allows(one, value); });
    }
    if (keyword == "items") {
      return !value.is_array() ||
             std::all_of(value.begin(), value.end(), [&](const Json& item) { return allows(argument, item); });
    }
    if (keyword == "required") {
      return std::all_of(argument.begin(), argument.end(), [&](const Json& name) { return value.contains(name); });
    }
    if (keyword == "properties") return properties_fit(argument, value);
    if (keyword == "additionalProperties") return others_fit(argument, schema, value);
    ADD_FAILURE() << "unknown keyword " << keyword;
    return false;
  }

  bool properties_fit(const Json& properties, const Json& value) const {
    return std::all_of(properties.items().begin(), properties.items().end(), [&](const auto& property) {
      return !value.contains(property.key()) || allows(property.value(), value[property.key()]);
    });
  }

  bool others_fit(const Json& argument, const Json& schema, const Json& value) const {
    for (const auto& [name, inner] : value.items()) {
      if (schema.contains("properties") && schema["properties"].contains(name)) continue;
      if (argument == false || !allows(argument, inner)) return false;
    }
    return true;
  }

  const Json& resolve(const std::string& reference) const {
    return reference == "#" ? root_ : root_.at(Json::json_pointer(reference.substr(1)));
  }

  static bool has_type(const Json& argument, const Json& value) {
    if (argument.is_array()) {
      return std::any_of(argument.begin(), argument.end(), [&](const Json& one) { return has_type(one, value); });
    }
    if (argument == "integer") return value.is_number_integer();
    return argument == value.type_name();
  }

  Json root_;
};

template <Message T>
Validator validator() {
  return Validator(Json::parse(to_json_schema(SchemaBuilder::build<T>())));
}

TEST(JsonSchemaTest, AllowsTheJsonOfEveryMessage) {
  testing::for_each_message([]<class T>() {
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      const std::string json = to_json(testing::sample<T>(seed));
      EXPECT_TRUE(validator<T>().allows(Json::parse(json))) << T::kTypeName << ": " << json;
    }
  });
}

TEST(JsonSchemaTest, RefusesOtherFieldsTypesAndRanges) {
  const Validator schema = validator<testing::Everything>();
  const Json good = Json::parse(to_json(testing::Everything{}));
  EXPECT_TRUE(schema.allows(good));
  for (const auto& [field, bad] : std::vector<std::pair<const char*, Json>>{{"u8", 256},
                                                                            {"i8", -129},
                                                                            {"u64", -1},
                                                                            {"f64", "much"},
                                                                            {"flag", 1},
                                                                            {"text", nullptr},
                                                                            {"inner", {{"name", "a"}}},
                                                                            {"numbers", {1, "a"}},
                                                                            {"table", {{"a", {1.5}}}},
                                                                            {"maybe", 1},
                                                                            {"tensor", {{"shape", {-1}}}},
                                                                            {"stranger", 1}}) {
    Json changed = good;
    changed[field] = bad;
    EXPECT_FALSE(schema.allows(changed)) << field;
  }
}

TEST(JsonSchemaTest, HasTheMessageAtItsRoot) {
  const Json schema = Json::parse(to_json_schema(SchemaBuilder::build<Order>()));
  EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
  EXPECT_EQ(schema["title"], "Order");
  EXPECT_EQ(schema["type"], "object");
  EXPECT_EQ(schema["properties"]["cursor"]["$ref"], "#/$defs/LoaderCursor");
  EXPECT_EQ(schema["properties"]["id"]["maximum"], 18446744073709551615ull);
  EXPECT_EQ(schema["required"].size(), 12u);
  EXPECT_EQ(schema["$defs"].size(), 5u);
}

TEST(JsonSchemaTest, RefusesASchemaWithoutStructs) { EXPECT_THROW(to_json_schema(Schema{}), Error); }

}  // namespace
}  // namespace trainyard
