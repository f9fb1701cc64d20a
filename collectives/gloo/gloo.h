#pragma once

#include "collectives/engine_collective.h"

namespace trainyard {

/// Collectives by Gloo, as LibTorch's c10d has it. What Gloo lacks is composed of what it has: types and means through
/// a working type, reduce_scatter by all_reduce, uneven parts by broadcasts. Send, recv and barriers go over the
/// sockets of the engine, which find out who is silent; Gloo's do not.
class Gloo final : public EngineCollective {
 public:
  explicit Gloo(CollectiveContext& context);
};

}  // namespace trainyard
