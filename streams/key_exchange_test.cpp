// SPDX-License-Identifier: Apache-2.0
#include "streams/key_exchange.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "messages/error.h"

namespace trainyard::streams {
namespace {

bool same(const Secret& a, const Secret& b) { return std::ranges::equal(a.bytes(), b.bytes()); }

TEST(KeyExchangeTest, BothSidesGetTheSameSecretAndNobodyElseDoes) {
  const KeyExchange first, second, third;
  EXPECT_TRUE(same(first.secret_with(second.share()), second.secret_with(first.share())));
  EXPECT_FALSE(same(first.secret_with(second.share()), third.secret_with(first.share())));
  EXPECT_FALSE(same(first.secret_with(second.share()), first.secret_with(third.share())));
}

TEST(KeyExchangeTest, RefusesAShareWithWhichAnybodyKnowsTheSecret) {
  const KeyExchange one;
  try {
    one.secret_with({});
    FAIL() << "it was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::kCorrupt);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("share of a key exchange is not usable"));
  }
}

}  // namespace
}  // namespace trainyard::streams
