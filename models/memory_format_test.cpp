// SPDX-License-Identifier: Apache-2.0
#include "models/memory_format.h"

#include <ATen/ops/conv2d.h>
#include <ATen/ops/rand.h>
#include <gtest/gtest.h>

namespace trainyard {
namespace {

TEST(MemoryFormatTest, ThePixelsStayTheSameAndTheChannelsComeLast) {
  const at::Tensor images = at::rand({2, 3, 4, 5});
  const at::Tensor arranged = channels_last(images);
  EXPECT_TRUE(arranged.equal(images));
  EXPECT_EQ(arranged.sizes(), images.sizes());
  EXPECT_TRUE(arranged.is_contiguous(at::MemoryFormat::ChannelsLast));
  EXPECT_EQ(arranged.stride(1), 1);
}

TEST(MemoryFormatTest, ImagesInTheFormatAreNotCopied) {
  const at::Tensor arranged = channels_last(at::rand({2, 3, 4, 5}));
  EXPECT_TRUE(channels_last(arranged).is_same(arranged));
}

TEST(MemoryFormatTest, AConvolutionOfGreyImagesKeepsTheFormatToo) {
  const at::Tensor grey = at::rand({2, 1, 8, 8});
  ASSERT_TRUE(grey.is_contiguous(at::MemoryFormat::ChannelsLast)) << "in both formats at once";
  const at::Tensor arranged = channels_last(grey);
  EXPECT_TRUE(channels_last(arranged).is_same(arranged));
  const at::Tensor convolved = at::conv2d(arranged, at::rand({4, 1, 3, 3}), {}, 1, 1);
  EXPECT_EQ(convolved.suggest_memory_format(), at::MemoryFormat::ChannelsLast);
}

}  // namespace
}  // namespace trainyard
