#pragma once

#include "collectives/backend.h"
#include "collectives/collective.h"

namespace trainyard::collectives {

/// Collectives by Gloo, as LibTorch's c10d has it. What Gloo lacks is composed of what it has: types and means through
/// a working type, reduce_scatter by all_reduce, uneven parts by broadcasts. Send, recv and barriers go over the
/// sockets of the mesh, which find out who is silent; Gloo's do not.
class Gloo final : public Collective {
 public:
  explicit Gloo(CollectiveContext& context) : Collective(context) {}

 private:
  Backend open() override;
};

}  // namespace trainyard::collectives
