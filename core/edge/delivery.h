// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "core/edge/envelope.h"

namespace trainyard {
class InputBase;
}  // namespace trainyard

namespace trainyard::core {

/// The receiving end of an edge (a connection from an output to an input). The runtime calls consumed() after a message
/// has been handled, so that the edge can return the message's credit, which is the sender's right to send another
/// message.
class Receiver {
 public:
  virtual ~Receiver() = default;
  /// Reports that the message has been handled, so that the sender may send more. Called on the receiver's loop,
  /// exactly once for every delivered message, even if the handler of the message failed.
  virtual void consumed(const Envelope& envelope) = 0;
};

/// A message that has arrived at an input. `receiver` outlives the delivery, because an edge is removed only when all
/// its messages have been handled or discarded.
struct Delivery {
  InputBase* input = nullptr;
  Envelope envelope;
  Receiver* receiver = nullptr;
};

}  // namespace trainyard::core
