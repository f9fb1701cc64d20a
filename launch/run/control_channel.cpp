// SPDX-License-Identifier: Apache-2.0
#include "launch/run/control_channel.h"

#include "messages/error.h"

namespace trainyard::launch {

ControlChannel::ControlChannel(zmq::context_t& context, PollLoop& loop, std::string endpoint, const core::RunKeys& keys,
                               std::function<void(const std::string&, const std::string&)> on_broken)
    : loop_(loop),
      endpoint_(std::move(endpoint)),
      socket_(context, endpoint_, keys),
      watch_(loop.watch_socket(socket_.handle(), [this] { receive(); })),
      on_broken_(std::move(on_broken)) {}

ControlChannel::~ControlChannel() { loop_.cancel(watch_); }

void ControlChannel::receive() {
  // Receives all messages that have arrived, so that a burst of messages costs only one round of the poll loop.
  while (const auto frames = socket_.receive()) dispatch(*frames);
}

void ControlChannel::dispatch(const RouterSocket::Frames& frames) {
  const std::string& process = frames.front();
  if (frames.size() != 3) {
    on_broken_(process, fmt::format("a control message of {} frames; 3 are allowed", frames.size()));
    return;
  }
  // The second frame contains the name of the type, because the body does not show its type.
  const auto handler = handlers_.find(frames[1]);
  if (handler == handlers_.end()) {
    on_broken_(process, fmt::format("a control message of unknown type '{}'", frames[1]));
    return;
  }
  // Even a message that cannot be decoded shows that its sender is alive.
  if (any_) any_(process);
  try {
    handler->second(process, frames[2]);
  } catch (const Error& error) {
    if (error.code() != Code::kCorrupt) throw;
    on_broken_(process, fmt::format("a broken {}: {}", frames[1], error.what()));
  }
}

}  // namespace trainyard::launch
