#pragma once

#include <utility>

#include "core/edge/envelope.h"

namespace trainyard {
class InputBase;
}  // namespace trainyard

namespace trainyard::core {

/// The receiving end of an edge. It is told when a message has been handled, so that the credit can go back.
class Receiver {
 public:
  virtual ~Receiver() = default;
  /// Called on the receiver's loop once for every message that was delivered, whether its handler succeeded or not.
  virtual void consumed(const Envelope& envelope) = 0;
};

/// A message that has arrived at an input. `receiver` outlives it: an edge is removed only when it is drained or its
/// messages have been given up.
struct Delivery {
  InputBase* input = nullptr;
  Envelope envelope;
  Receiver* receiver = nullptr;
};

}  // namespace trainyard::core
