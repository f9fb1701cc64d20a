// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "messages/words.h"

namespace trainyard {

/// What an edge (the connection from one output to one input) does when the receiver is slower than the sender. The
/// policy belongs to the edge, not to the output, because the same output can be connected to a reader that needs every
/// message and to a viewer that does not.
enum class Policy : std::uint8_t {
  /// Messages wait at the sender, and none is lost unless the receiver dies. While messages wait, the sending component
  /// receives no further input.
  kBlock,
  kLatest,      ///< Only the newest undelivered message is kept; older ones are dropped and counted.
  kDropOldest,  ///< When the queue at the sender is full, its oldest message is dropped and counted.
};
constexpr auto words_of(Policy) { return words("edge policy", "block", "latest", "drop_oldest"); }

/// How an edge (the connection from one output to one input) carries its messages.
enum class Transport : std::uint8_t {
  kThread,   ///< Sender and receiver share an event loop.
  kProcess,  ///< Sender and receiver are on two event loops of one process.
  kIpc,      ///< Sender and receiver are in two processes of one host.
  kTcp,      ///< Sender and receiver are in two processes that are connected over TCP.
};
constexpr auto words_of(Transport) { return words("transport", "thread", "process", "ipc", "tcp"); }

}  // namespace trainyard
