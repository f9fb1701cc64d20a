// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <functional>
#include <string>
#include <string_view>

#include "timeline/timeline.h"

namespace trainyard::timeline {

/// Writes events as JSON in Chrome's trace-event format. Such a file can be opened at https://ui.perfetto.dev or at
/// chrome://tracing. Each process has one row for each component, and separate rows for steps and for threads that
/// components have started (Row). Each message is an arrow from the handler that sent it to the handler that received
/// it. `run` is the name of the run; `write` receives the text in pieces.
void write_chrome_trace(const std::deque<Event>& events, const std::string& run,
                        const std::function<void(std::string_view text)>& write);

}  // namespace trainyard::timeline
