// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/addresses.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "launch/testing/expect_error.h"

namespace trainyard::launch {
namespace {

using ::testing::HasSubstr;

TEST(AddressesTest, AddressesAreTheirOwnNames) {
  EXPECT_EQ(resolve_host("10.0.0.1"), "10.0.0.1");
  EXPECT_EQ(resolve_host("fd00:0::1"), "fd00::1");
}

TEST(AddressesTest, ANameThatNobodyKnowsIsAnError) {
  EXPECT_THAT(testing::error_of([] { resolve_host("no host"); }), HasSubstr("the host 'no host' has no address: "));
}

TEST(AddressesTest, TheEndpointOfAnIpv6AddressHasBrackets) {
  EXPECT_EQ(tcp_endpoint("10.0.0.1", "7000"), "tcp://10.0.0.1:7000");
  EXPECT_EQ(tcp_endpoint("fd00::1", "*"), "tcp://[fd00::1]:*");
}

TEST(AddressesTest, KnowsTheLoopbackInterface) {
  for (const char* host : {"localhost", "127.0.0.1", "127.9.9.9", "::1"}) EXPECT_TRUE(means_loopback(host)) << host;
  for (const char* host : {"node1", "10.0.0.1", "fd00::1"}) EXPECT_FALSE(means_loopback(host)) << host;
}

TEST(AddressesTest, FindsTheOwnAddressOfEitherFamily) {
  EXPECT_EQ(address_towards("127.0.0.1"), "127.0.0.1");
  EXPECT_TRUE(is_own_address("127.0.0.1"));
  EXPECT_FALSE(is_own_address("192.0.2.1"));
  if (!has_ipv6()) GTEST_SKIP() << "this machine has no IPv6";
  EXPECT_EQ(address_towards("::1"), "::1");
  EXPECT_TRUE(is_own_address("::1"));
  EXPECT_FALSE(is_own_address("2001:db8::1"));
}

TEST(AddressesTest, WhatIsNoAddressIsRefused) {
  EXPECT_EQ(testing::error_of([] { socket_address("node1", 1); }), "'node1' is neither an IPv4 nor an IPv6 address");
}

}  // namespace
}  // namespace trainyard::launch
