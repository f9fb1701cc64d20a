// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "core/edge/delivery.h"
#include "core/edge/edge.h"

namespace trainyard::core {

class EventLoop;

/// The edge (connection from an output to an input) between two components of one event loop. A message is sent by
/// adding it to the loop's queue. Both components run on one thread, so the messages in flight are counted without
/// synchronisation.
class LocalEdge final : public Edge, public Receiver {
 public:
  LocalEdge(OutputBase& output, InputBase& input, EventLoop& loop, std::uint32_t id, Policy policy,
            std::uint64_t window_messages, std::uint64_t window_bytes);

  bool drained() const override { return messages() == 0 && waiting() == 0; }
  std::optional<std::uint64_t> under_way() const override { return messages(); }
  void consumed(const Envelope& envelope) override;

 private:
  bool has_room() const override { return within_window(messages(), bytes_); }
  void transmit(const Envelope& envelope) override;
  std::uint64_t messages() const { return messages_.load(std::memory_order_relaxed); }

  InputBase& input_;
  EventLoop& loop_;
  /// The number of messages in flight. Only the loop's thread writes it.
  std::atomic<std::uint64_t> messages_{0};
  std::uint64_t bytes_ = 0;  ///< The total size of these messages.
};

}  // namespace trainyard::core
