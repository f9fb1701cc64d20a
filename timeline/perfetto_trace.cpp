// SPDX-License-Identifier: Apache-2.0
#include "timeline/perfetto_trace.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "timeline/batch_path.h"
#include "timeline/protobuf.h"
#include "timeline/rows.h"
#include "timeline/slice_lanes.h"

namespace trainyard::timeline {
namespace {

// The field numbers of messages in Perfetto's perfetto_trace.proto.
constexpr std::uint32_t kTracePacket = 1;
namespace packet {
constexpr std::uint32_t kTimestamp = 8, kSequence = 10, kTrackEvent = 11, kInterned = 12, kSequenceFlags = 13,
                        kTrackDescriptor = 60;
constexpr std::uint64_t kStateCleared = 1, kNeedsState = 2;
}  // namespace packet
namespace track_event {
constexpr std::uint32_t kCategory = 3, kAnnotation = 4, kType = 9, kName = 10, kTrack = 11, kOwnName = 23, kFlow = 47,
                        kEndOfFlow = 48;
enum Type : std::uint64_t { kBegin = 1, kEnd = 2, kInstant = 3 };
}  // namespace track_event
namespace track {
constexpr std::uint32_t kUuid = 1, kName = 2, kProcess = 3, kParent = 5;
constexpr std::uint32_t kPid = 1, kProcessName = 6;  // Fields of the descriptor of a process.
}  // namespace track
namespace annotation {
constexpr std::uint32_t kName = 1, kNumber = 3, kText = 6;
}
constexpr std::uint64_t kOneSequence = 1;

/// Assigns numbers to texts. The file contains each text only once, and refers to it by its number elsewhere.
class Interned {
 public:
  /// `field` is the number of the field of InternedData in which the texts are written.
  explicit Interned(std::uint32_t field) : field_(field) {}

  /// Returns the number of the text. If the text is new, adds it to `fresh`, a message of the type InternedData.
  std::uint64_t number(std::string_view text, ProtobufMessage& fresh) {
    const auto known = numbers_.find(text);
    if (known != numbers_.end()) return known->second;
    const std::uint64_t number = numbers_.size() + 1;
    numbers_.emplace(text, number);
    ProtobufMessage entry;
    entry.add(1, number);
    entry.add(2, text);
    fresh.add(field_, entry);
    return number;
  }

 private:
  std::uint32_t field_;
  std::map<std::string, std::uint64_t, std::less<>> numbers_;
};

/// Assigns ids to the tracks. The ids of process tracks are larger than all others.
class Tracks {
 public:
  static std::uint64_t of_process(std::int32_t pid) {
    return (std::uint64_t{1} << 32) + static_cast<std::uint32_t>(pid);
  }
  std::uint64_t next() { return ++last_; }

 private:
  std::uint64_t last_ = 0;
};

class TraceWriter {
 public:
  TraceWriter(const std::string& run, const std::function<void(std::string_view)>& write) : run_(run), write_(write) {}

  void write_row(const Row& row, const std::vector<const Event*>& slices) {
    if (named_.insert(row.pid).second) describe_process(*slices.front());
    std::vector<std::uint64_t> tracks;
    order_slices(slices, [&](const LaneEvent& at) {
      if (at.lane == tracks.size()) tracks.push_back(describe_track(*slices.front()));
      at.begins ? begin(*at.slice, tracks[at.lane]) : end(*at.slice, tracks[at.lane]);
    });
    rows_[row] = tracks.front();
    if (row == row_of_messages(row.pid, row.component)) senders_[row.component] = tracks.front();
  }

  /// Writes the flow of a message. A sender that records no spans, such as a program in another language, has no track,
  /// so its messages get no flow.
  void write_hop(const Event& hop) {
    const auto from = senders_.find(hop.peer);
    const auto to = rows_.find(row_of_messages(hop.pid, hop.component));
    if (from == senders_.end() || to == rows_.end()) return;
    ++flows_;
    instant(hop, from->second, hop.begin_ns, track_event::kFlow);
    instant(hop, to->second, hop.end_ns, track_event::kEndOfFlow);
  }

 private:
  void describe_process(const Event& event) {
    ProtobufMessage process, descriptor;
    process.add(track::kPid, static_cast<std::uint64_t>(event.pid));
    process.add(track::kProcessName, fmt::format("{} {}", run_, event.process));
    descriptor.add(track::kUuid, Tracks::of_process(event.pid));
    descriptor.add(track::kProcess, process);
    write_descriptor(descriptor);
  }

  std::uint64_t describe_track(const Event& event) {
    ProtobufMessage descriptor;
    const std::uint64_t uuid = tracks_.next();
    descriptor.add(track::kUuid, uuid);
    descriptor.add(track::kParent, Tracks::of_process(event.pid));
    descriptor.add(track::kName, name_of_row(event));
    write_descriptor(descriptor);
    return uuid;
  }

  void write_descriptor(const ProtobufMessage& descriptor) {
    ProtobufMessage message;
    message.add(packet::kTrackDescriptor, descriptor);
    write_packet(message);
  }

  void begin(const Event& slice, std::uint64_t track) {
    ProtobufMessage fresh, event = event_on(track, track_event::kBegin);
    event.add(track_event::kCategory, categories_.number(name_of(slice.kind), fresh));
    // The names of steps are all different, so they are not interned.
    if (slice.kind == SpanKind::kStep) {
      event.add(track_event::kOwnName, title_of(slice));
    } else {
      event.add(track_event::kName, names_.number(title_of(slice), fresh));
    }
    annotate(event, slice, fresh);
    write_event(event, slice.begin_ns, fresh);
  }

  void end(const Event& slice, std::uint64_t track) {
    write_event(event_on(track, track_event::kEnd), slice.end_ns, {});
  }

  void instant(const Event& hop, std::uint64_t track, std::int64_t time_ns, std::uint32_t flow) {
    ProtobufMessage fresh, event = event_on(track, track_event::kInstant);
    event.add(track_event::kCategory, categories_.number(name_of(hop.kind), fresh));
    event.add(track_event::kName, names_.number(hop.name, fresh));
    event.add_fixed64(flow, flows_);
    write_event(event, time_ns, fresh);
  }

  static ProtobufMessage event_on(std::uint64_t track, track_event::Type type) {
    ProtobufMessage event;
    event.add(track_event::kType, type);
    event.add(track_event::kTrack, track);
    return event;
  }

  void annotate(ProtobufMessage& event, const Event& slice, ProtobufMessage& fresh) {
    const auto add = [&](std::string_view name, auto field, const auto& value) {
      ProtobufMessage message;
      message.add(annotation::kName, annotations_.number(name, fresh));
      message.add(field, value);
      event.add(track_event::kAnnotation, message);
    };
    if (slice.step != 0) add("step", annotation::kNumber, slice.step);
    if (slice.trace != 0) {
      const BatchNumber number = batch_of(slice.trace);
      add("batch", annotation::kNumber, number.batch);
      add("rank", annotation::kNumber, std::uint64_t{number.rank});
    }
    if (!slice.peer.empty()) add("from", annotation::kText, slice.peer);
  }

  void write_event(const ProtobufMessage& event, std::int64_t time_ns, const ProtobufMessage& fresh) {
    ProtobufMessage message;
    message.add(packet::kTimestamp, static_cast<std::uint64_t>(time_ns));
    message.add(packet::kTrackEvent, event);
    if (!fresh.empty()) message.add(packet::kInterned, fresh);
    write_packet(message);
  }

  void write_packet(ProtobufMessage& message) {
    message.add(packet::kSequence, kOneSequence);
    message.add(packet::kSequenceFlags, any_ ? packet::kNeedsState : packet::kStateCleared);
    any_ = true;
    ProtobufMessage trace;
    trace.add(kTracePacket, message);
    write_(trace.bytes());
  }

  std::string run_;
  const std::function<void(std::string_view)>& write_;
  Interned categories_{1}, names_{2}, annotations_{3};  // The arguments are field numbers of InternedData.
  Tracks tracks_;
  std::map<Row, std::uint64_t> rows_;                  ///< The first track of each row.
  std::map<std::string_view, std::uint64_t> senders_;  ///< The track with the messages of each component.
  std::set<std::int32_t> named_;                       ///< The processes that have a track.
  std::uint64_t flows_ = 0;
  bool any_ = false;
};

}  // namespace

void write_perfetto_trace(const std::deque<Event>& events, const std::string& run,
                          const std::function<void(std::string_view bytes)>& write) {
  std::map<Row, std::vector<const Event*>> rows;
  for (const Event& event : events) {
    if (event.kind != SpanKind::kHop) rows[row_of(event)].push_back(&event);
  }
  TraceWriter writer(run, write);
  for (const auto& [row, slices] : rows) writer.write_row(row, slices);
  for (const Event& event : events) {
    if (event.kind == SpanKind::kHop) writer.write_hop(event);
  }
}

}  // namespace trainyard::timeline
