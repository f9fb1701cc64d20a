// SPDX-License-Identifier: Apache-2.0
#include "devices/uuid.h"

#include <gtest/gtest.h>

namespace trainyard::devices {
namespace {

TEST(UuidTest, IsWrittenInGroupsOfHexadecimalDigits) {
  const char bytes[16] = {0, 1, 2, 3, '\x7f', '\x80', 6, 7, 8, 9, 10, 11, 12, 13, 14, '\xff'};
  EXPECT_EQ(uuid_text(bytes), "00010203-7f80-0607-0809-0a0b0c0d0eff");
}

}  // namespace
}  // namespace trainyard::devices
