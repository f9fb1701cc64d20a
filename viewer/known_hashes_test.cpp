// SPDX-License-Identifier: Apache-2.0
#include "viewer/known_hashes.h"

#include <gtest/gtest.h>

namespace trainyard::viewer {
namespace {

TEST(KnownHashesTest, TheOldestIsForgottenWhenThereAreTooMany) {
  KnownHashes known(2);
  EXPECT_TRUE(known.add(1));
  EXPECT_TRUE(known.add(2));
  EXPECT_FALSE(known.add(1));
  EXPECT_TRUE(known.add(3));
  EXPECT_FALSE(known.add(2));
  EXPECT_TRUE(known.add(1)) << "it was the oldest";
}

}  // namespace
}  // namespace trainyard::viewer
