// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "messages/json.h"
#include "recordings/recording.h"
#include "recordings/testing/files.h"
#include "timeline/testing/spans_maker.h"
#include "tools/trainyard/bag.h"
#include "tools/trainyard/exit_codes.h"

namespace trainyard::tools {
namespace {

using namespace recordings;

TEST(BagConvertTest, SaysThatSpansAreMissingFromAFileForPerfetto) {
  const recordings::testing::TemporaryDirectory directory;
  timeline::SpansMaker maker;
  maker.add(SpanKind::kStep, "host", "step", 100, 200).step = 1;
  maker.spans().lost = 7;
  McapWriter writer(directory / "spans.mcap", {"", "test"}, {});
  const auto schema = writer.add(SchemaRecord{.name = "Spans", .encoding = "jsonschema", .data = "{}"});
  const auto channel =
      writer.add(ChannelRecord{.schema = schema, .topic = kSpansTopic, .encoding = "json", .metadata = {}});
  writer.write(MessageRecord{channel, 0, 100, 100, to_json(maker.spans())});
  writer.close();

  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int code = bag_convert({.path = directory / "spans.mcap", .perfetto = directory / "spans.pftrace"});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), directory / "spans.pftrace" + "\n");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "trainyard: INCOMPLETE: 7 spans were lost, because there were too many in a short time\n");
  EXPECT_EQ(code, kExitOk);
}

}  // namespace
}  // namespace trainyard::tools
