// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "recordings/mcap_reader.h"
#include "timeline/timeline.h"

namespace trainyard::tools {

/// Adds all spans of a recording to the timeline. Throws kNotFound if the recording has none, and kCorrupt if they are
/// damaged.
void read_spans(const recordings::McapReader& reader, timeline::Timeline& timeline);

/// Returns the full name of the run that was recorded; empty if the recording does not say so.
std::string run_of(const recordings::McapReader& reader);

/// Writes the timeline to a new file for https://ui.perfetto.dev: as Chrome's trace events if its name ends in ".json",
/// otherwise in Perfetto's own form. Throws kIo if the file exists or cannot be written.
void write_perfetto(const timeline::Timeline& timeline, const std::string& run, const std::string& path);

}  // namespace trainyard::tools
