// SPDX-License-Identifier: Apache-2.0
#include "launch/run/heartbeat_watch.h"

#include <fmt/format.h>

#include <utility>

#include "launch/run/seconds.h"

namespace trainyard::launch {
HeartbeatWatch::HeartbeatWatch(PollLoop& loop, std::chrono::milliseconds silence, Say say)
    : loop_(loop), silence_(silence), say_(std::move(say)), timer_(loop.after(silence / 10, [this] { check(); })) {}

HeartbeatWatch::~HeartbeatWatch() { loop_.cancel(timer_); }

void HeartbeatWatch::heard(const std::string& process) {
  const auto now = loop_.now();
  // A process is watched from its first message on. Before that, the timeout of the start applies.
  Voice& voice = voices_[process];
  if (voice.reported) say_(fmt::format("process '{}' is back after {:.1f} s", process, in_seconds(now - voice.last)));
  voice = {now, false};
}

void HeartbeatWatch::check() {
  const auto now = loop_.now();
  for (auto& [process, voice] : voices_) {
    // Each period of silence is reported only once.
    if (voice.reported || now - voice.last < silence_) continue;
    voice.reported = true;
    say_(fmt::format("process '{}' has been silent for {:.1f} s; is it stopped, or very busy?", process,
                     in_seconds(now - voice.last)));
  }
  timer_ = loop_.after(silence_ / 10, [this] { check(); });
}

}  // namespace trainyard::launch
