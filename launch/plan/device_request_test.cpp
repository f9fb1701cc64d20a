// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/device_request.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace trainyard::launch {
namespace {

Value text(const std::string& value) { return {value, {}}; }
Value number(std::int64_t value) { return {value, {}}; }

TEST(DeviceRequestTest, ACountIsAsManyRanks) {
  EXPECT_EQ(read_device_request(number(4)).count, 4);
  EXPECT_EQ(read_device_request(text("4")).count, 4) << "as the command line gives it";
  EXPECT_EQ(read_device_request(number(4)).kind, DeviceRequest::Kind::kCount);
}

TEST(DeviceRequestTest, AListNamesItsDevices) {
  const Value list{Value::List{number(0), number(3)}, {}};
  for (const Value& request : {list, text("[0, 3]")}) {
    EXPECT_EQ(read_device_request(request).count, 2);
    EXPECT_THAT(read_device_request(request).indices, ::testing::ElementsAre(0, 3));
  }
}

TEST(DeviceRequestTest, AutoAndAllAreNoNumbersYet) {
  EXPECT_EQ(read_device_request(text("auto")).kind, DeviceRequest::Kind::kAutomatic);
  for (const Value& request : {text("-1"), number(-1)}) {
    EXPECT_EQ(read_device_request(request).kind, DeviceRequest::Kind::kAll);
    EXPECT_EQ(read_device_request(request).count, 0);
  }
}

TEST(DeviceRequestTest, EverythingElseIsNoRequest) {
  for (const Value& request : {text("many"), text("1.5"), text("[0, 'a']"), text(""), Value{true, {}}}) {
    EXPECT_EQ(read_device_request(request).kind, DeviceRequest::Kind::kNone);
  }
}

}  // namespace
}  // namespace trainyard::launch
