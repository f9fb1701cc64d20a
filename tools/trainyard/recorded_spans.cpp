// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/recorded_spans.h"

#include "messages/error.h"
#include "messages/json.h"
#include "messages/spans.h"
#include "recordings/recording.h"
#include "timeline/chrome_trace.h"
#include "timeline/perfetto_trace.h"
#include "tools/trainyard/text_output.h"

namespace trainyard::tools {

void read_spans(const recordings::McapReader& reader, timeline::Timeline& timeline) {
  recordings::MessageStream stream(
      reader, {[](const recordings::ChannelRecord& channel) { return is_topic_of_spans(channel.topic); }});
  bool any = false;
  while (const auto message = stream.next()) {
    try {
      timeline.add(from_json<Spans>(message->record.data));
    } catch (const Error& error) {
      throw Error(Code::kCorrupt, "a message on '{}' does not contain spans: {}", message->channel.topic, error.what());
    }
    any = true;
  }
  if (!any) {
    throw Error(Code::kNotFound, "{} contains no spans; `trainyard bag record {}` records them", reader.file().path(),
                kSpansTopic);
  }
}

std::string run_of(const recordings::McapReader& reader) {
  const recordings::TextMap* run = reader.contents().find_metadata(recordings::kRunMetadata);
  if (run == nullptr) return "";
  const auto name = run->find("run");
  return name == run->end() ? "" : name->second;
}

void write_perfetto(const timeline::Timeline& timeline, const std::string& run, const std::string& path) {
  TextOutput file(path);
  const auto write = path.ends_with(".json") ? timeline::write_chrome_trace : timeline::write_perfetto_trace;
  write(timeline.events(), run, [&](std::string_view piece) { file.write(piece); });
  file.finish();
}

}  // namespace trainyard::tools
