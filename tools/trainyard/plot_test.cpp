// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "core/testing/temporary_folder.h"
#include "launch/plan/child_output.h"
#include "messages/error.h"
#include "tools/trainyard/plot_canvas.h"
#include "tools/trainyard/plot_scale.h"

namespace trainyard::tools {

using namespace trainyard::testing;
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> labels(const PlotScale& scale, std::size_t about) {
  std::vector<std::string> all;
  for (const Tick& tick : scale.ticks(about)) all.push_back(tick.label);
  return all;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

Curve straight(const std::string& name, double from, double to) { return {name, {0, 100}, {from, to}}; }

TEST(PlotScaleTest, PutsTicksAtRoundNumbers) {
  EXPECT_THAT(labels({0, 1}, 5), ElementsAre("0", "0.2", "0.4", "0.6", "0.8", "1.0"));
  EXPECT_THAT(labels({0.31, 2.47}, 4), ElementsAre("1", "2"));
  EXPECT_THAT(labels({0, 50'000}, 5), ElementsAre("0", "10k", "20k", "30k", "40k", "50k"));
  EXPECT_THAT(labels({-1, 1}, 4), ElementsAre("-1.0", "-0.5", "0", "0.5", "1.0"));
  EXPECT_THAT(labels({2'000'000, 100'000'000}, 3), ElementsAre("50M", "100M"));
  EXPECT_THAT(labels({0, 7e-6}, 4), ElementsAre("0", "2e-06", "4e-06", "6e-06"));
  EXPECT_THAT(labels({1, 1000, true}, 4), ElementsAre("1", "10", "100", "1000"));
  EXPECT_THAT(labels({0.3, 3, true}, 6), ElementsAre("0.5", "1", "2"));
}

TEST(PlotScaleTest, EveryRangeHasTicksThatLieInIt) {
  for (const bool logarithmic : {false, true}) {
    for (const double low : {1e-9, 0.123, 1.0, 3.7, 999.0, 123456.0}) {
      for (const double factor : {1.0, 1.001, 1.7, 3.0, 50.0, 1e7}) {
        const PlotScale scale(low, low * factor, logarithmic);
        const std::vector<Tick> ticks = scale.ticks(5);
        EXPECT_GE(ticks.size(), 1) << low << " " << factor << " " << logarithmic;
        EXPECT_LE(ticks.size(), 20) << low << " " << factor << " " << logarithmic;
        for (const Tick& tick : ticks) {
          EXPECT_GE(tick.position, -1e-6);
          EXPECT_LE(tick.position, 1 + 1e-6);
        }
        EXPECT_TRUE(std::ranges::is_sorted(ticks, {}, &Tick::position));
      }
    }
  }
}

TEST(PlotScaleTest, PlacesValuesAlongTheAxis) {
  EXPECT_DOUBLE_EQ(PlotScale(2, 6).position(3), 0.25);
  EXPECT_NEAR(PlotScale(1, 100, true).position(10), 0.5, 1e-12);
  // A constant curve lies in the middle.
  EXPECT_DOUBLE_EQ(PlotScale(5, 5).position(5), 0.5);
  EXPECT_DOUBLE_EQ(PlotScale(0, 0).position(0), 0.5);
  EXPECT_NEAR(PlotScale(5, 5, true).position(5), 0.5, 1e-12);
}

TEST(CurveTest, SmoothingIsAWeightedMeanOfWhatCameBefore) {
  const Curve curve{"loss", {1, 2, 3, 4}, {4, 8, NAN, 2}};
  const Curve smooth = smoothed(curve, 0.5);
  EXPECT_DOUBLE_EQ(smooth.y[0], 4);
  EXPECT_DOUBLE_EQ(smooth.y[1], (0.5 * 4 + 1 * 8) / 1.5);
  EXPECT_TRUE(std::isnan(smooth.y[2]));
  EXPECT_DOUBLE_EQ(smooth.y[3], (0.25 * 4 + 0.5 * 8 + 1 * 2) / 1.75);
  EXPECT_EQ(smoothed(curve, 0).y[1], 8);
}

TEST(CurveTest, ThinningKeepsTheExtremesOfEveryColumn) {
  Curve curve{"loss", {}, {}};
  for (int i = 0; i < 100'000; ++i) {
    curve.x.push_back(i);
    curve.y.push_back(i == 54'321 ? 99 : i == 77'777 ? -99 : std::sin(i));
  }
  const Curve thin = thinned(curve, 0, 99'999, 200);
  EXPECT_LE(thin.x.size(), 4 * 201);
  EXPECT_TRUE(std::ranges::is_sorted(thin.x));
  EXPECT_THAT(thin.y, Contains(99));
  EXPECT_THAT(thin.y, Contains(-99));
  EXPECT_EQ(thin.x.front(), 0);
  EXPECT_EQ(thin.x.back(), 99'999);
  // A gap in the curve remains a gap.
  curve.y[50'000] = NAN;
  EXPECT_TRUE(std::ranges::any_of(thinned(curve, 0, 99'999, 200).y, [](double y) { return std::isnan(y); }));
}

TEST(CurveTest, TakesItsPointsFromTheRowsInEffect) {
  archive::MetricsTable table;
  table.stage = "train";
  table.steps = {10, 20, 15, 25};
  table.times_ns = {1'000'000'000, 2'000'000'000, 5'000'000'000, 6'000'000'000};
  table.samples = {100, 200, 150, 250};
  const archive::Series loss{"loss", {0, 1, 2, 3}, {4, 3, 2, 1}};
  EXPECT_THAT(curve_of(table, loss, PlotAxis::kStep, 0).x, ElementsAre(10, 15, 25));
  EXPECT_THAT(curve_of(table, loss, PlotAxis::kStep, 0).y, ElementsAre(4, 2, 1));
  EXPECT_THAT(curve_of(table, loss, PlotAxis::kTime, 1'000'000'000).x, ElementsAre(0, 4, 5));
  EXPECT_THAT(curve_of(table, loss, PlotAxis::kSamples, 0).x, ElementsAre(100, 150, 250));
  EXPECT_EQ(curve_of(table, loss, PlotAxis::kStep, 0).name, "train/loss");
}

TEST(PlotCanvasTest, SetsTheDotsOfBraillePatterns) {
  PlotCanvas canvas(2, 1, true);
  canvas.line(0, 0, 0, 3, 0);  // The left column of dots: 1, 2, 3 and 7.
  canvas.line(3, 0, 3, 0, 0);  // The dot at the bottom right: 8.
  EXPECT_EQ(canvas.row(0, false), "⡇⢀");
}

TEST(PlotCanvasTest, DrawsMarksWithoutBraille) {
  PlotCanvas canvas(3, 3, false);
  canvas.line(0, 0, 2, 2, 0);
  canvas.line(0, 2, 0, 2, 1);
  canvas.line(-5, -5, -1, 99, 1);  // This line is outside the canvas.
  EXPECT_EQ(canvas.row(0, false), "+ *");
  EXPECT_EQ(canvas.row(1, false), " *");
  EXPECT_EQ(canvas.row(2, false), "*");
}

TEST(TerminalPlotTest, DrawsAFallingLineWithItsAxes) {
  const Plot plot{{straight("train/loss", 10, 0)}, {}, "step", false};
  const std::vector<std::string> lines =
      lines_of(draw_in_terminal(plot, {.columns = 40, .rows = 13, .unicode = false, .colours = false}));
  ASSERT_EQ(lines.size(), 14);
  EXPECT_EQ(lines[0], "** train/loss  0");
  EXPECT_EQ(lines[1].substr(0, 5), "10 +*");
  EXPECT_EQ(lines[11], " 0 +" + std::string(34, ' ') + "**");
  EXPECT_TRUE(lines[12].starts_with("   ++-")) << lines[12];
  EXPECT_THAT(lines[13], HasSubstr("step"));
  for (const std::string& line : lines) EXPECT_LE(line.size(), 40) << line;
}

TEST(TerminalPlotTest, IsNoWiderThanItsColumnsInUnicodeEither) {
  const Plot plot{{straight("a", 10, 0), straight("b", -5, 3e5)}, {}, "samples", false};
  for (const std::string& line : lines_of(draw_in_terminal(plot, {.columns = 60, .rows = 20}))) {
    const auto characters = std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; });
    EXPECT_LE(characters, 60) << line;
  }
}

TEST(TerminalPlotTest, RefusesToDrawNothing) {
  Plot plot{{{"loss", {1, 2}, {NAN, INFINITY}}}, {}, "step", false};
  EXPECT_THROW(draw_in_terminal(plot, {}), Error);
  plot.curves[0].y = {-1, 0};
  EXPECT_NO_THROW(draw_in_terminal(plot, {}));
  plot.logarithmic = true;
  EXPECT_THROW(draw_in_terminal(plot, {}), Error);
}

TEST(SvgPlotTest, IsAWellFormedPictureWhoseCurvesLieInside) {
  Plot plot{{straight("a < \"b\" & c\x1b", 10, 0), {"gap", {0, 50, 100}, {1, NAN, 3}}}, {}, "step", false};
  plot.rough = {straight("a", 12, -2)};
  TemporaryFolder folder;
  const std::string path = folder.write("plot.svg", draw_as_svg(plot, 400, 300));
  // Python's XML parser reads the picture.
  const std::string reader =
      "import re, sys, xml.etree.ElementTree as tree\n"
      "root = tree.parse(sys.argv[1]).getroot()\n"
      "space = '{http://www.w3.org/2000/svg}'\n"
      "paths = [path.get('d') for path in root.iter(space + 'path') if path.get('clip-path') is None]\n"
      "points = [(float(x), float(y)) for d in paths for x, y in re.findall(r'[ML]([-\\d.]+),([-\\d.]+)', d)]\n"
      "assert all(0 <= x <= 400 and 0 <= y <= 300 for x, y in points), points\n"
      "print(root.get('viewBox'), len(paths), len(points), paths[1].count('M'))\n"
      "print([text.text for text in root.iter(space + 'text')][0])\n";
  const launch::ChildOutput output = launch::run_child({"python3", "-c", reader, path}, std::chrono::seconds(60));
  EXPECT_EQ(output.text, "0 0 400 300 2 4 2\na < \"b\" & c?\n") << output.errors;
}

}  // namespace
}  // namespace trainyard::tools
