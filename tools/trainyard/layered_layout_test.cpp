// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/layered_layout.h"

#include <gtest/gtest.h>

#include <random>

namespace trainyard::tools {
namespace {

TEST(LayeredLayoutTest, PutsAChainFromLeftToRightOnOneLine) {
  std::vector<LayoutBox> boxes{{100, 40}, {50, 20}, {100, 40}};
  std::vector<LayoutArrow> arrows{{0, 1}, {1, 2}};
  lay_out(boxes, arrows);
  EXPECT_LT(boxes[0].corner.x + 100, boxes[1].corner.x);
  EXPECT_LT(boxes[1].corner.x + 50, boxes[2].corner.x);
  EXPECT_NEAR(boxes[0].corner.y + 20, boxes[1].corner.y + 10, 1e-9);
  EXPECT_EQ(arrows[0].points.front().x, boxes[0].corner.x + 100);
  EXPECT_EQ(arrows[0].points.back().x, boxes[1].corner.x);
}

TEST(LayeredLayoutTest, TurnsAnArrowThatClosesACycleAndDrawsItTheRightWayRound) {
  std::vector<LayoutBox> boxes{{100, 40}, {100, 40}};
  std::vector<LayoutArrow> arrows{{0, 1}, {1, 0}, {1, 1}};
  lay_out(boxes, arrows);
  EXPECT_GT(arrows[1].points.front().x, arrows[1].points.back().x);
  EXPECT_TRUE(arrows[2].points.empty());
}

TEST(LayeredLayoutTest, AvoidsACrossingThatIsNotNeeded) {
  // In the given order of the boxes, the arrows 0 -> 3 and 1 -> 2 cross.
  std::vector<LayoutBox> boxes(4, {10, 10});
  std::vector<LayoutArrow> arrows{{0, 3}, {1, 2}};
  lay_out(boxes, arrows);
  EXPECT_EQ(boxes[0].corner.y < boxes[1].corner.y, boxes[3].corner.y < boxes[2].corner.y);
}

TEST(LayeredLayoutTest, NeverLetsBoxesOverlapOrLeaveThePicture) {
  std::mt19937 random(1);
  for (int round = 0; round < 100; ++round) {
    std::vector<LayoutBox> boxes(1 + random() % 15);
    for (LayoutBox& box : boxes) box = {10.0 + random() % 100, 10.0 + random() % 50};
    std::vector<LayoutArrow> arrows(random() % 30);
    for (LayoutArrow& arrow : arrows) arrow = {random() % boxes.size(), random() % boxes.size()};
    const Point size = lay_out(boxes, arrows);
    for (std::size_t i = 0; i < boxes.size(); ++i) {
      EXPECT_GE(boxes[i].corner.x, 0);
      EXPECT_GE(boxes[i].corner.y, 0);
      EXPECT_LE(boxes[i].corner.x + boxes[i].width, size.x);
      EXPECT_LE(boxes[i].corner.y + boxes[i].height, size.y);
      for (std::size_t j = 0; j < i; ++j) {
        const bool apart = boxes[i].corner.x >= boxes[j].corner.x + boxes[j].width ||
                           boxes[j].corner.x >= boxes[i].corner.x + boxes[i].width ||
                           boxes[i].corner.y >= boxes[j].corner.y + boxes[j].height ||
                           boxes[j].corner.y >= boxes[i].corner.y + boxes[i].height;
        EXPECT_TRUE(apart) << "round " << round << ", boxes " << j << " and " << i;
      }
    }
  }
}

TEST(LayeredLayoutTest, LaysOutNothing) {
  std::vector<LayoutBox> boxes;
  std::vector<LayoutArrow> arrows;
  EXPECT_EQ(lay_out(boxes, arrows).y, 32);
}

}  // namespace
}  // namespace trainyard::tools
