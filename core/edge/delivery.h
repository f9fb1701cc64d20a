#pragma once

#include <utility>

#include "core/edge/envelope.h"

namespace trainyard {

class InputBase;

/// The receiving end of an edge: told when a message has been handled, so that its credit can go back.
class Receiver {
 public:
  virtual ~Receiver() = default;
  virtual void consumed(const Envelope& envelope) = 0;
};

/// A message that has arrived at an input.
struct Delivery {
  InputBase* input = nullptr;
  Envelope envelope;
  Receiver* receiver = nullptr;
};

}  // namespace trainyard
