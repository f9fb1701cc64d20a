#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "collectives/agreement.h"
#include "collectives/operation_queue.h"

namespace trainyard::collectives {

/// Describes what a member finds out about its group. Functions take members; their texts name the ranks of the run.
/// Every member uses these texts, whatever the backend.
class Findings {
 public:
  Findings(std::string group, std::vector<std::uint32_t> ranks, std::uint32_t own)
      : group_(std::move(group)), ranks_(std::move(ranks)), own_(own) {}

  /// Names an operation: "operation 7 of group 'world', all_reduce(sum) of float32[100]", or "message 2 from rank 1 to
  /// rank 0 in group ...".
  std::string name(const Operation& operation) const;

  /// The members asked for different things. `requests` holds one for each member.
  Failure disagreement(const Operation& operation, const std::vector<Request>& requests) const;
  /// `members` have left the group, or their processes are gone.
  Failure gone(const std::vector<std::uint32_t>& members, Presence how, const Operation& operation) const;
  /// The group has waited for `members` in vain for the timeout.
  Failure silent(const std::vector<std::uint32_t>& members, const QueuedOperation& held,
                 std::chrono::milliseconds timeout) const;
  /// A library threw `what`. `silent` are the members that no longer answer, which are then to blame.
  Failure broken(const std::vector<std::uint32_t>& silent, const std::string& what) const;
  /// This member gave up.
  Failure aborted(const std::string& reason) const;
  /// Members use memory of different sizes in one call.
  Failure different_memory(std::uint32_t member, std::uint64_t bytes, std::uint64_t bytes_of_first) const;

  /// This member cannot reach the others' memory.
  Failure cannot_map(const Error& error) const;

 private:
  std::string ranks_of(const std::vector<std::uint32_t>& members) const;

  std::string group_;
  std::vector<std::uint32_t> ranks_;
  std::uint32_t own_;
};

}  // namespace trainyard::collectives
