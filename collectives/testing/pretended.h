#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/backend.h"
#include "collectives/collective.h"

namespace trainyard::testing {

/// What the other members of a pretended group do. By default they ask for the same at once.
struct PretendedOthers {
  bool come = true;                             ///< True if they come to operations of the group.
  std::optional<collectives::Request> ask_for;  ///< What they ask for, if it differs from what this member asks for.
  collectives::Presence presence = collectives::Presence::kHere;
  std::optional<collectives::Answer> answer;                ///< Their answer to a probe.
  std::optional<collectives::Failure> tell;                 ///< What they have found out.
  std::vector<collectives::Failure> were_told;              ///< What this member has told them.
  std::function<void(const collectives::Operation&)> move;  ///< Does an operation, on the memory of this member.
};

/// A backend for tests of one member: the others exist only in `others`, which outlives it. It works on the caller's
/// thread.
collectives::Backend pretended_backend(PretendedOthers& others);

/// A whole collective in which this member is the only one that exists.
class PretendedGroup final : public Collective {
 public:
  PretendedGroup(CollectiveContext& context, PretendedOthers& others) : Collective(context), others_(others) {}

 private:
  collectives::Backend open() override { return pretended_backend(others_); }

  PretendedOthers& others_;
};

}  // namespace trainyard::testing
