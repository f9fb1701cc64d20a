// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "core/config/configurable.h"
#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class Oven final : public Configurable {
 public:
  explicit Oven(std::string_view given) : Configurable("oven 'test'", given) {}
  Parameter<double> heat{*this, "heat", 180.0, "temperature", positive() | in_unit("C") | settable()};
  Parameter<std::int64_t> minutes{*this, "minutes", kRequired, "baking time", between(1, 600)};
  Parameter<std::string> mode{*this, "mode", std::string("fan"), "how it heats", one_of({"fan", "grill"})};
  Parameter<std::vector<double>> steps{*this, "steps", std::vector<double>{}, "later temperatures", at_least(0)};
  Parameter<std::string> level{*this, "level", "auto", "which shelf"};
  Parameter<PluginSpec> timer{*this, "timer", PluginSpec{"bell"}, "what rings", plugin_kind("timer")};
  Parameter<std::vector<PluginSpec>> bells{*this, "bells", std::vector<PluginSpec>{}, "further ones",
                                           plugin_kind("timer")};
};

enum class Shelf : std::uint8_t { kTop, kMiddle, kBottom };
constexpr auto words_of(Shelf) { return words("shelf", "top", "middle", "bottom"); }

/// An object with parameters whose values are the words of an enumeration.
class Drawer final : public Configurable {
 public:
  explicit Drawer(std::string_view given) : Configurable("drawer", given) {}
  Parameter<Shelf> shelf{*this, "shelf", Shelf::kMiddle, "where it slides in", settable()};
  Parameter<Shelf> light{*this, "light", Shelf::kTop, "where the light is", one_of({"top", "bottom"})};
};

std::string error_of(std::string_view given) {
  try {
    Oven oven(given);
    oven.check_all_given_are_known();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(ConfigurableTest, TakesWhatIsGivenAndDefaultsTheRest) {
  const Oven oven(R"({"minutes": 45, "steps": [200, 150.5]})");
  EXPECT_EQ(*oven.minutes, 45);
  EXPECT_EQ(*oven.heat, 180.0);
  EXPECT_THAT(*oven.steps, ::testing::ElementsAre(200, 150.5));
  EXPECT_EQ(oven.timer->plugin, "bell");
}

TEST(WordParameterTest, IsAStringToALaunchFileAndAnEnumerationToTheCode) {
  Drawer drawer(R"({"shelf": "bottom"})");
  EXPECT_EQ(*drawer.shelf, Shelf::kBottom);
  EXPECT_EQ(drawer.shelf.value(), json("bottom"));
  EXPECT_EQ(*drawer.light, Shelf::kTop);
  EXPECT_EQ(drawer.shelf.info().kind, ValueKind::kString);
  EXPECT_EQ(drawer.shelf.info().default_json, R"("middle")");
  drawer.shelf.assign("top");
  EXPECT_EQ(*drawer.shelf, Shelf::kTop);
}

TEST(WordParameterTest, RefusesOtherWordsAndThoseThatItsRulesLeaveOut) {
  Drawer drawer("{}");
  EXPECT_THAT([&] { drawer.shelf.assign("midle"); },
              ::testing::ThrowsMessage<Error>(HasSubstr("one of: top, middle, bottom")));
  EXPECT_EQ(*drawer.shelf, Shelf::kMiddle) << "the old value stays";
  EXPECT_THAT([&] { drawer.light.assign("middle"); },
              ::testing::ThrowsMessage<Error>(HasSubstr("one of: top, bottom")));
}

TEST(ConfigurableTest, DescribesItselfWithoutValues) {
  const Oven oven("");
  EXPECT_TRUE(oven.describing());
  ASSERT_EQ(oven.parameters().size(), 7u);
  EXPECT_TRUE(oven.find_parameter("minutes")->info().required);
  EXPECT_EQ(oven.find_parameter("heat")->info().default_json, "180.0");
  EXPECT_EQ(oven.find_parameter("cake"), nullptr);
}

TEST(ConfigurableTest, EveryRefusalSaysWhereWhatAndWhatIsAllowed) {
  EXPECT_EQ(error_of("{}"), "oven 'test': the parameter 'minutes' must be given; an integer >= 1 and <= 600");
  EXPECT_EQ(error_of(R"({"minutes": 0})"), "oven 'test': minutes: 0 is not allowed; an integer >= 1 and <= 600");
  EXPECT_EQ(error_of(R"({"minutes": 1.5})"), "oven 'test': minutes: 1.5 is not allowed; an integer >= 1 and <= 600");
  EXPECT_EQ(error_of(R"({"minutes": 5, "heat": 0})"), "oven 'test': heat: 0 is not allowed; a number > 0 (C)");
  EXPECT_EQ(error_of(R"({"minutes": 5, "mode": "gril"})"),
            "oven 'test': mode: \"gril\" is not allowed; one of: fan, grill; did you mean 'grill'?");
  EXPECT_EQ(error_of(R"({"minutes": 5, "steps": [1, -1]})"),
            "oven 'test': steps: [1,-1] is not allowed; a list of numbers >= 0");
  EXPECT_EQ(
      error_of(R"({"minutes": 5, "timer": {"loud": true}})"),
      "oven 'test': timer: {\"loud\":true} is not allowed; the name of a timer or a table with plugin = \"name\"");
  EXPECT_EQ(error_of(R"({"minutes": 5, "haet": 1})"),
            "oven 'test' has no parameter 'haet'; did you mean 'heat'? known: bells, heat, level, minutes, mode, "
            "steps, timer");
  EXPECT_EQ(error_of(R"({"minutes": 5, "bells": ["gong", 3]})"),
            "oven 'test': bells: [\"gong\",3] is not allowed; a list, each entry the name of a timer or a table with "
            "plugin = \"name\"");
  EXPECT_THAT(error_of(R"({"minutes": 5, "bells": "gong"})"), HasSubstr("bells: \"gong\" is not allowed; a list"));
}

TEST(ConfigurableTest, AStringWhoseDefaultIsAutoTakesAnIntegerWithAndWithoutQuotationMarks) {
  EXPECT_EQ(*Oven(R"({"minutes": 5, "level": 3})").level, "3");
  EXPECT_EQ(*Oven(R"({"minutes": 5, "level": "3"})").level, "3");
  EXPECT_EQ(*Oven(R"({"minutes": 5, "level": "auto"})").level, "auto");
  for (const char* wrong : {"2.5", "true", "[1]"}) {
    EXPECT_EQ(error_of(fmt::format(R"({{"minutes": 5, "level": {}}})", wrong)),
              fmt::format("oven 'test': level: {} is not allowed; an integer or a string", wrong));
  }
  EXPECT_THAT(error_of(R"({"minutes": 5, "mode": 3})"), HasSubstr("mode: 3 is not allowed; one of: fan, grill"));
}

TEST(ConfigurableTest, PluginParametersComeAsNameOrTable) {
  const Oven by_name(R"({"minutes": 5, "timer": "gong"})");
  EXPECT_EQ(by_name.timer->plugin, "gong");
  const Oven by_table(R"({"minutes": 5, "timer": {"plugin": "gong", "loud": true}})");
  EXPECT_EQ(by_table.timer->plugin, "gong");
  EXPECT_EQ(json::parse(by_table.timer->parameters), json::parse(R"({"loud": true})"));
}

TEST(ConfigurableTest, AListOfPluginsTakesNamesAndTablesInTheirOrder) {
  const Oven oven(R"({"minutes": 5, "bells": ["gong", {"plugin": "chime", "loud": true}, "gong"]})");
  ASSERT_EQ(oven.bells->size(), 3u);
  EXPECT_EQ((*oven.bells)[0].plugin, "gong");
  EXPECT_EQ((*oven.bells)[1].plugin, "chime");
  EXPECT_EQ((*oven.bells)[1].parameters, R"({"loud":true})");
  EXPECT_EQ(oven.bells.value()[1], json::parse(R"({"plugin": "chime", "loud": true})"));
}

TEST(ConfigurableTest, OnlySettableParametersChangeWhileRunningAndTellTheirOwner) {
  Oven oven(R"({"minutes": 5})");
  int told = 0;
  oven.heat.on_change([&] { ++told; });
  oven.set_parameter("heat", 220);
  EXPECT_EQ(*oven.heat, 220);
  EXPECT_EQ(told, 1);
  EXPECT_THROW(oven.set_parameter("heat", -1), Error);
  EXPECT_EQ(*oven.heat, 220) << "a refused value changes nothing";
  EXPECT_THROW(oven.set_parameter("minutes", 6), Error);
  EXPECT_THROW(oven.set_parameter("haet", 6), Error);
}

TEST(ParameterInfoTest, KindsOfPluginsHaveTheirArticle) {
  ParameterInfo info{.name = "p", .kind = ValueKind::kPlugin, .rules = plugin_kind("accelerator")};
  EXPECT_EQ(describe_allowed(info), "the name of an accelerator or a table with plugin = \"name\"");
  info.rules = plugin_kind("model");
  EXPECT_EQ(describe_allowed(info), "the name of a model or a table with plugin = \"name\"");
}

TEST(ParameterInfoTest, SurvivesJson) {
  const Oven oven("");
  for (const ParameterBase* parameter : oven.parameters()) {
    const ParameterInfo copy = parameter_info_from_json(to_json(parameter->info()));
    EXPECT_EQ(to_json(copy), to_json(parameter->info()));
    EXPECT_EQ(describe_allowed(copy), describe_allowed(parameter->info()));
  }
}

TEST(NearestTest, FindsWhatWasMeantAndNothingElse) {
  const std::vector<std::string> known{"cpu", "cuda", "mps", "simulated"};
  EXPECT_EQ(nearest("cdua", known), "cuda");
  EXPECT_EQ(nearest("simulatd", known), "simulated");
  EXPECT_EQ(nearest("tensorprocessor", known), "");
  EXPECT_EQ(nearest("sim", known), "simulated") << "the beginning of a name";
  EXPECT_EQ(nearest("si", known), "");
  EXPECT_EQ(suggestion("x", {}), "; none is known");
  EXPECT_EQ(suggestion("qqqqqq", {"b", "a"}), "; known: a, b");
  EXPECT_EQ(suggestion("qqqqqq", {"b", "a", "b"}), "; known: a, b") << "the same plugin may be found twice";
}

}  // namespace
}  // namespace trainyard
