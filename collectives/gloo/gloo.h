#pragma once

#include "collectives/backend.h"
#include "collectives/collective.h"

namespace trainyard::collectives {

/// Collectives by Gloo, as provided by LibTorch's c10d. What Gloo lacks is composed of what it has: types and means go
/// through a working type, reduce_scatter uses all_reduce, and uneven parts use broadcasts. Send, recv and barriers use
/// the sockets of the mesh, which find out who is silent; Gloo's do not.
class Gloo final : public Collective {
 public:
  explicit Gloo(CollectiveContext& context) : Collective(context) {}

 private:
  Backend open() override;
};

}  // namespace trainyard::collectives
