// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "collectives/backend.h"
#include "collectives/collective.h"

namespace trainyard::testing {

/// The simulated behaviour of the other ranks of a group, for tests of a single rank. By default, the others call the
/// same operations immediately.
struct PretendedOthers {
  bool come = true;  ///< True if the others call the operations of the group.
  /// If set, the others make this call instead of the same call as this member.
  std::optional<collectives::Request> ask_for;
  collectives::Presence presence = collectives::Presence::kHere;  ///< The presence that Attendance reports for them.
  std::optional<collectives::Answer> answer;                      ///< Their answer to a probe.
  std::optional<collectives::Failure> tell;                       ///< The failure that they report.
  std::vector<collectives::Failure> were_told;  ///< The failures that this member has reported to them.
  /// Transfers the data of an operation, by changing the memory of this member.
  std::function<void(const collectives::Operation&)> move;
};

/// Returns a backend for tests of one member. `others`, which must outlive the backend, simulates the other members.
/// Operations are carried out on the caller's thread.
collectives::Backend pretended_backend(PretendedOthers& others);

/// A complete collective in which `others` simulates all other members.
class PretendedGroup final : public Collective {
 public:
  PretendedGroup(CollectiveContext& context, PretendedOthers& others) : Collective(context), others_(others) {}

 private:
  collectives::Backend open() override { return pretended_backend(others_); }

  PretendedOthers& others_;
};

}  // namespace trainyard::testing
