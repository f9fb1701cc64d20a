// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "timeline/timeline.h"

namespace trainyard::timeline {

/// Writes events in Perfetto's own format: TracePackets with TrackEvents, as defined in the folder
/// protos/perfetto/trace of Perfetto's sources. Each row (Row) is a track of its process, or several tracks if its
/// events overlap partially. A message is a flow from an instant on the track of its sender to an instant on the track
/// of its receiver. `run` is the name of the run; `write` receives the bytes in pieces.
void write_perfetto_trace(const std::deque<Event>& events, const std::string& run,
                          const std::function<void(std::string_view bytes)>& write);

}  // namespace trainyard::timeline
