// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/declaration_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "launch/testing/expect_error.h"
#include "messages/message_type.h"
#include "messages/metrics.h"

namespace trainyard::launch {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

std::string error(const std::string& text) {
  return testing::error_of([&] { read_declaration(text); });
}

TEST(DeclarationReaderTest, OnlyANameIsNeeded) {
  const core::PluginInfo info = read_declaration(R"({"name": "x"})");
  EXPECT_EQ(info.label.kind, "component");
  EXPECT_EQ(info.label.name, "x");
  EXPECT_FALSE(info.component_traits().per_rank);
  EXPECT_TRUE(info.component_traits().restartable);
  EXPECT_TRUE(info.inputs.empty() && info.outputs.empty() && info.parameters.empty() && info.services.empty());
}

// The description that `trainyard-process --describe` prints for a plugin must be a valid declaration of a member that
// replaces the plugin.
TEST(DeclarationReaderTest, ReadsWhatIsPrintedAboutAPlugin) {
  core::PluginInfo plugin;
  plugin.label = {"component", "x", "1", "Does.", "tag"};
  plugin.traits.of_kind = ComponentTraits{.per_rank = true, .thread = "io", .restartable = false, .memory_bytes = 5};
  plugin.parameters.push_back({.name = "p",
                               .kind = ValueKind::kNumber,
                               .default_json = "0.5",
                               .help = "h",
                               .rules = between(0, 1) | settable() | in_unit("s")});
  const MessageType& type = message_type<Metrics>();
  plugin.inputs.push_back({.name = "in",
                           .topic = "/t",
                           .type = type.name,
                           .fingerprint = type.fingerprint,
                           .schema = type.schema_text,
                           .optional = true,
                           .policy = Policy::kLatest,
                           .window_messages = 7});
  plugin.services.push_back({"s", type.schema_text, type.schema_text, "h"});
  const core::PluginInfo read = read_declaration(to_json(plugin).dump());
  EXPECT_EQ(to_json(read), to_json(plugin));
}

TEST(DeclarationReaderTest, NamesThePlaceOfWhatIsWrong) {
  EXPECT_EQ(error(R"({"name": "x", "inputs": [{"name": "i", "schema": "A {\n  u1 b\n}\n"}]})").substr(0, 18),
            "inputs[0].schema: ");
  EXPECT_EQ(error(R"({"name": "x", "inputs": [{"name": "i"}]})"),
            "inputs[0].schema: must be given; the schema text of a message type");
  EXPECT_EQ(error(R"({"name": "x", "inputs": 5})"), "inputs: 5 is not allowed; a list");
  EXPECT_EQ(error(R"({"name": "x", "inputs": [5]})"), "inputs[0]: 5 is not an object");
  EXPECT_EQ(error(R"({"name": "x", "traits": {"per_ranks": true}})"),
            "traits: unknown key 'per_ranks'; did you mean 'per_rank'? known: checks_parameters, memory_bytes, "
            "per_rank, restartable, thread");
  EXPECT_EQ(error(R"({"name": "x", "parameters": [{"name": "p", "kind": "bool", "default": "5"}]})"),
            "parameters[0].default: p: 5 is not allowed; a bool");
  EXPECT_EQ(error(R"({"name": "x", "parameters": [{"name": "p", "kind": "bool", "required": false}]})"),
            "parameters[0]: a parameter is either required or has a default, which is JSON in a string, such as "
            "\"0.9\"");
}

TEST(DeclarationReaderTest, TypesAndFingerprintsMustAgreeWithTheSchema) {
  const std::string port = R"({"name": "x", "outputs": [{"name": "o", "schema": "A {\n}\n", KEY}]})";
  const auto with = [&](const std::string& key) {
    std::string text = port;
    return text.replace(text.find("KEY"), 3, key);
  };
  EXPECT_EQ(read_declaration(with(R"("type": "A")")).outputs.at(0).type, "A");
  EXPECT_EQ(error(with(R"("type": "B")")), "outputs[0].type: \"B\" is not allowed; the schema is that of 'A'");
  EXPECT_THAT(error(with(R"("fingerprint": 5)")), HasSubstr("outputs[0].fingerprint: 5 is not allowed"));
  EXPECT_THAT(error(with(R"("same_loop": true)")), HasSubstr("outputs[0].same_loop: true is not allowed"));
}

TEST(DeclarationReaderTest, BoundsWhatAStrangerCanMakeItRead) {
  EXPECT_EQ(error(std::string(kMostDeclarationBytes + 1, ' ')), "it has 1048577 bytes; at most 1048576");
  EXPECT_EQ(error(std::string(1000, '[')), "it is not JSON");
  json declaration{{"name", "x"}, {"services", json::array()}};
  for (int i = 0; i < 257; ++i) declaration["services"].push_back({{"name", "s" + std::to_string(i)}});
  EXPECT_EQ(error(declaration.dump()), "services: has 257 entries; at most 256");
  EXPECT_EQ(error(json{{"name", std::string(65, 'x')}}.dump()).substr(0, 6), "name: ");
  EXPECT_EQ(error("{\"name\": \"x\", \"\\u001b[31m\": 1}").find('\x1b'), std::string::npos);
}

}  // namespace
}  // namespace trainyard::launch
