// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "recordings/mcap_reader.h"
#include "timeline/timeline.h"

namespace trainyard::tools {

/// Adds all spans (records of what components did, and when) of a recording to the timeline. Throws kNotFound if the
/// recording contains no spans, and kCorrupt if they are damaged.
void read_spans(const recordings::McapReader& reader, timeline::Timeline& timeline);

/// Returns the full name of the run that was recorded, or an empty text if the recording does not contain it.
std::string run_of(const recordings::McapReader& reader);

/// Writes the timeline to a new file for https://ui.perfetto.dev. `run` is the name of the run. If `path` ends with
/// ".json", the file has Chrome's trace-event format, otherwise Perfetto's own format. Throws kIo if the file exists or
/// cannot be written.
void write_perfetto(const timeline::Timeline& timeline, const std::string& run, const std::string& path);

}  // namespace trainyard::tools
