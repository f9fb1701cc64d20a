// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/field_path.h"

#include <gtest/gtest.h>

#include "launch/testing/expect_error.h"

namespace trainyard::tools {
namespace {

using launch::testing::error_of;
using nlohmann::json;

const char* const kSchema =
    "Report {\n  u64 step\n  list<Scalar> values\n  map<f64> sums\n  optional<Scalar> best\n  list<list<i32>> grid\n"
    "  Tensor picture\n}\nScalar {\n  string name\n  f64 value\n}\n";

const json kMessage = json::parse(R"({
    "step": 7, "values": [{"name": "loss", "value": 0.5}, {"name": "accuracy", "value": 0.9}], "sums": {"a": 1.5},
    "best": null, "grid": [[1, 2], [3]],
    "picture": {"dtype": "uint8", "shape": [28, 28], "payload": null, "offset": 0}})");

json value(const char* path) { return FieldPath(parse_schema(kSchema), path).value_in(kMessage); }
std::string type(const char* path) { return to_text(FieldPath(parse_schema(kSchema), path).type()); }
std::string error(const char* path) {
  return error_of([&] { FieldPath(parse_schema(kSchema), path); });
}

TEST(FieldPathTest, FindsValuesAndTheirTypes) {
  EXPECT_EQ(value("step"), 7);
  EXPECT_EQ(value("values[1].name"), "accuracy");
  EXPECT_EQ(value("sums.a"), 1.5);
  EXPECT_EQ(value("grid[1][0]"), 3);
  EXPECT_EQ(value("picture.shape[0]"), 28);
  EXPECT_EQ(value("values[0]"), kMessage["values"][0]);
  EXPECT_EQ(type("values[1].name"), "string");
  EXPECT_EQ(type("best.value"), "f64");
  EXPECT_EQ(type("best"), "Scalar");
  EXPECT_EQ(type("picture.dtype"), "string");
}

TEST(FieldPathTest, FindsNothingWhereAMessageLacksTheValue) {
  EXPECT_EQ(value("values[2].name"), json());
  EXPECT_EQ(value("sums.b"), json());
  EXPECT_EQ(value("best.value"), json());
  EXPECT_EQ(value("grid[1][1]"), json());
}

TEST(FieldPathTest, RefusesWhatNoMessageHas) {
  EXPECT_EQ(error("stp"),
            "'stp': Report has no field 'stp'; did you mean 'step'? known: best, grid, picture, step, sums, values");
  EXPECT_EQ(error("values[0].nam"),
            "'values[0].nam': Scalar has no field 'nam'; did you mean 'name'? known: name, value");
  EXPECT_EQ(error("picture.size"), "'picture.size': Tensor has no field 'size'; known: dtype, offset, payload, shape");
  EXPECT_EQ(error("step.x"), "'step.x': 'x' is not possible, because a u64 has no fields");
  EXPECT_EQ(
      error("values.name"),
      "'values.name': 'name' is not possible, because a list<Scalar> has no fields; its elements are [0], [1], ...");
  EXPECT_EQ(error("step[0]"), "'step[0]': [0] is not possible, because a u64 is not a list");
  EXPECT_EQ(error("values[-1]"), "'values[-1]': [-1] is not the number of an element; the first is [0]");
  EXPECT_EQ(error("values[99999999999999999999]"),
            "'values[99999999999999999999]': [99999999999999999999] is not the number of an element; the first is [0]");
}

TEST(FieldPathTest, RefusesBrokenPaths) {
  EXPECT_EQ(error(""), "'', character 1: a name is needed");
  EXPECT_EQ(error("values."), "'values.', character 8: a name is needed");
  EXPECT_EQ(error("values..name"), "'values..name', character 8: a name is needed");
  EXPECT_EQ(error("[0]"), "'[0]', character 1: a name is needed");
  EXPECT_EQ(error("values[0"), "'values[0', character 7: ']' is missing");
  EXPECT_EQ(error("values[0]name"), "'values[0]name', character 10: a '.' or '[' is needed");
}

}  // namespace
}  // namespace trainyard::tools
