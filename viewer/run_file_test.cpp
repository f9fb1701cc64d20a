// SPDX-License-Identifier: Apache-2.0
#include "viewer/run_file.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>

#include "core/testing/temporary_folder.h"

namespace trainyard::viewer {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;

std::vector<std::string> texts(const json& records) {
  std::vector<std::string> list;
  for (const json& each : records) list.push_back(each.at("text"));
  return list;
}

TEST(RunFileTest, EntersWhatTheLoggerWritesAndLeavesTheRestOut) {
  const trainyard::testing::TemporaryFolder folder;
  const std::string path =
      folder.write("metrics.jsonl", R"({"kind":"metrics","time":100.000001,"stage":"train","step":9,"values":{"loss":9}}
{"kind":"metrics","time":200.000001,"stage":"train","step":10,"total_steps":50,"epoch":0,"samples":320,"unit":"sample","units":320,"values":{"loss":0.5}}
{"kind":"metrics","time":200.5,"stage":"train","step":20,"samples":640,"values":{"loss":null},"not_finite":{"loss":"NaN"}}
this is no JSON
{"kind":"log","time":201,"level":"warning","component":"optimizer","text":"slow"}
{"kind":"unknown","time":202}
{"kind":"prediction","time":203,"step":20,"title":"t","text":"To be","tensors":0}
{"kind":"metrics","time":204,"stage":"train","step":30)");
  Book book({.run = "a"});
  book.add(Metrics{.step = 10, .stage = "train", .time_ns = 200'000'001'999, .values = {{"loss", 0.5}}});
  RunFile file(path, 150'000'000'000);
  while (file.read(64, book)) {
  }
  EXPECT_EQ(file.damaged_lines(), 1u);
  const json series = book.read(&Shelves::curves).list();
  ASSERT_EQ(series.size(), 1u);
  EXPECT_EQ(series[0]["rows"], 2) << "the first is older, the second is known, the last has no end yet";
  EXPECT_TRUE(std::isnan(series[0]["last"].get<double>()));
  EXPECT_THAT(texts(book.read(&Shelves::log).find({})["records"]), ElementsAre("slow"));
  EXPECT_THAT(texts(book.read(&Shelves::samples).list({}, 10)), ElementsAre("To be"));
  // The rest of the line is written later.
  std::ofstream(path, std::ios::app) << ",\"values\":{\"loss\":0.25}}\n";
  file.read(1 << 20, book);
  EXPECT_EQ(book.read(&Shelves::curves).list()[0]["rows"], 3);
  EXPECT_EQ(book.read(&Shelves::summary)["total_steps"], 50);
}

}  // namespace
}  // namespace trainyard::viewer
