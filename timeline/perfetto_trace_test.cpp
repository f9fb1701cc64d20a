// SPDX-License-Identifier: Apache-2.0
// The tests decode the bytes according to the wire format of Protocol Buffers. tests/perfetto_readers tests that they
// comply with Perfetto's own schema.
#include "timeline/perfetto_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>

#include "timeline/slice_lanes.h"
#include "timeline/testing/spans_maker.h"

namespace trainyard::timeline {
namespace {

using ::testing::ElementsAre;

/// The decoded fields of a message, by field number. Fields that are not numbers are kept as bytes.
struct Fields {
  std::multimap<std::uint32_t, std::uint64_t> numbers;
  std::multimap<std::uint32_t, std::string> bytes;

  std::uint64_t number(std::uint32_t field) const {
    const auto found = numbers.find(field);
    return found == numbers.end() ? 0 : found->second;
  }
  std::string text(std::uint32_t field) const {
    const auto found = bytes.find(field);
    return found == bytes.end() ? "" : found->second;
  }
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : rest_(bytes) {}

  Fields read() {
    Fields fields;
    while (!rest_.empty()) {
      const std::uint64_t key = varint();
      const auto field = static_cast<std::uint32_t>(key >> 3);
      if ((key & 7) == 0) fields.numbers.emplace(field, varint());
      if ((key & 7) == 1) fields.numbers.emplace(field, fixed64());
      if ((key & 7) == 2) fields.bytes.emplace(field, take(varint()));
    }
    return fields;
  }

 private:
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      const auto byte = static_cast<unsigned char>(take(1)[0]);
      value |= std::uint64_t{byte & 0x7fu} << shift;
      if (byte < 0x80) return value;
    }
  }
  std::uint64_t fixed64() {
    std::uint64_t value = 0;
    std::memcpy(&value, take(8).data(), 8);
    return value;
  }
  std::string_view take(std::uint64_t size) {
    if (size > rest_.size()) throw std::runtime_error("the message ends in the middle of a field");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
};

Fields fields_of(std::string_view bytes) { return Reader(bytes).read(); }

std::vector<Fields> packets_of(const Timeline& timeline) {
  std::string bytes;
  write_perfetto_trace(timeline.events(), "mnist-9ix", [&](std::string_view piece) { bytes += piece; });
  std::vector<Fields> packets;
  for (const auto& [field, packet] : fields_of(bytes).bytes) {
    EXPECT_EQ(field, 1u);
    packets.push_back(fields_of(packet));
  }
  return packets;
}

TEST(PerfettoTraceTest, ASliceIsAPairOfEventsOnTheTrackOfItsComponent) {
  Timeline timeline;
  SpansMaker maker;
  Span& span = maker.add(SpanKind::kForward, "host", "forward", 1'234'567'890'123, 1'234'567'891'130);
  span.step = 4;
  timeline.add(maker.spans());
  const std::vector<Fields> packets = packets_of(timeline);
  ASSERT_EQ(packets.size(), 4u) << "the process, the track, the beginning and the end";
  const Fields process = fields_of(packets[0].text(60)), track = fields_of(packets[1].text(60));
  EXPECT_EQ(fields_of(process.text(3)).number(1), 10u);
  EXPECT_EQ(fields_of(process.text(3)).text(6), "mnist-9ix main");
  EXPECT_EQ(track.number(5), process.number(1)) << "its parent";
  EXPECT_EQ(track.text(2), "host (thread main)");
  const Fields begin = fields_of(packets[2].text(11)), end = fields_of(packets[3].text(11));
  EXPECT_EQ(packets[2].number(8), 1'234'567'890'123u);
  EXPECT_EQ(packets[3].number(8), 1'234'567'891'130u);
  EXPECT_EQ(begin.number(9), 1u);
  EXPECT_EQ(end.number(9), 2u);
  EXPECT_EQ(begin.number(11), track.number(1));
  EXPECT_EQ(end.number(11), track.number(1));
  const Fields name = fields_of(fields_of(packets[2].text(12)).text(2));
  EXPECT_EQ(name.number(1), begin.number(10));
  EXPECT_EQ(name.text(2), "forward");
  EXPECT_EQ(fields_of(begin.text(4)).number(3), 4u) << "the step";
}

TEST(PerfettoTraceTest, AMessageFlowsFromItsSenderToItsReceiver) {
  Timeline timeline;
  SpansMaker one("loading", 1), other("main", 2);
  other.add(SpanKind::kHop, "host", "Batch", 1000, 3000, "loader");
  other.add(SpanKind::kHop, "host", "Number", 1000, 3000, "a program");
  other.add(SpanKind::kHandler, "host", "Batch", 3000, 4000, "loader");
  one.add(SpanKind::kHandler, "loader", "task", 500, 1500);
  timeline.add(other.spans());
  timeline.add(one.spans());
  std::map<std::uint64_t, std::string> tracks;
  std::optional<Fields> begin, end;
  for (const Fields& packet : packets_of(timeline)) {
    const Fields track = fields_of(packet.text(60)), event = fields_of(packet.text(11));
    if (!packet.text(60).empty()) tracks[track.number(1)] = track.text(2);
    if (event.number(47) != 0) begin = event;
    if (event.number(48) != 0) end = event;
  }
  ASSERT_TRUE(begin && end);
  EXPECT_EQ(begin->number(47), end->number(48));
  EXPECT_EQ(tracks[begin->number(11)], "loader (thread main)");
  EXPECT_EQ(tracks[end->number(11)], "host (thread main)");
}

std::vector<std::string> ordered(const std::vector<Event>& slices) {
  std::vector<const Event*> pointers;
  for (const Event& slice : slices) pointers.push_back(&slice);
  std::vector<std::string> order;
  order_slices(pointers, [&](const LaneEvent& at) {
    order.push_back(std::string(at.begins ? "+" : "-") + std::string(at.slice->name) + std::to_string(at.lane));
  });
  return order;
}

Event slice(std::string_view name, std::int64_t begin, std::int64_t end) {
  return {.name = name, .begin_ns = begin, .end_ns = end};
}

TEST(SliceLanesTest, ASliceEndsBeforeThoseThatContainIt) {
  EXPECT_THAT(ordered({slice("inner", 2, 3), slice("outer", 1, 4), slice("next", 4, 5), slice("last", 4, 4)}),
              ElementsAre("+outer0", "+inner0", "-inner0", "-outer0", "+next0", "+last0", "-last0", "-next0"));
}

TEST(SliceLanesTest, SlicesThatOverlapInPartAreOnTwoLanes) {
  EXPECT_THAT(ordered({slice("a", 1, 4), slice("b", 3, 6), slice("c", 6, 7)}),
              ElementsAre("+a0", "+b1", "-a0", "+c0", "-c0", "-b1"));
}

}  // namespace
}  // namespace trainyard::timeline
