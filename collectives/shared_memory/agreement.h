// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "collectives/agreement.h"
#include "collectives/shared_memory/blocks.h"
#include "collectives/shared_memory/group.h"

namespace trainyard::shared_memory {

/// An agreement through shared memory: to announce an operation, a member writes a descriptor into its control block
/// and increments a counter, and the other members read both. This object owns what all parts of the backend use: the
/// control blocks (Group), and the memory on which operations work in place (Blocks).
class SharedAgreement final : public collectives::Agreement {
 public:
  /// `spin` is the time for which a waiting member polls before it sleeps.
  SharedAgreement(std::unique_ptr<Group> group, std::chrono::microseconds spin)
      : group_(std::move(group)), spin_(spin) {}

  Group& group() { return *group_; }
  Blocks& blocks() { return blocks_; }

  bool announce(const collectives::Operation& operation) override;
  const Request* request_of(std::uint32_t member, const collectives::Operation& operation) const override;
  void finished(const collectives::Operation& operation) override { group_->count_up(kDone, operation.order); }
  void tell(const collectives::Failure& failure) override { group_->publish_failure(failure); }
  std::optional<collectives::Failure> told() override { return group_->failure(); }
  bool rest(const collectives::Pause& pause, const std::function<bool()>& look_again) override;

 private:
  using Clock = std::chrono::steady_clock;

  bool looks_on(std::uint32_t looks);

  std::unique_ptr<Group> group_;
  Blocks blocks_;
  const std::chrono::microseconds spin_;
  std::uint64_t all_done_ = 0;  ///< All members are known to have finished this many operations.
  /// True if the member polls, rather than yielding the processor, before it sleeps in the current pause.
  bool spins_ = false;
  std::optional<Clock::time_point> spins_since_;
};

/// An attendance through shared memory. While a member waits for an operation, it regularly increments a counter
/// (Control::beats) in its control block. A member has answered a probe if this counter has increased since the probe.
class SharedAttendance final : public collectives::Attendance {
 public:
  explicit SharedAttendance(Group& group) : group_(group), beats_(group.size()) {}

  collectives::Presence presence(std::uint32_t member) override { return group_.presence(member); }
  std::uint64_t signs(std::uint32_t member) const override;
  void show(const collectives::Answer& answer) override;
  void probe() override;
  std::optional<collectives::Answer> answer(std::uint32_t member) const override;

 private:
  Group& group_;
  std::vector<std::uint32_t> beats_;  ///< The value of each member's counter at the last probe.
};

}  // namespace trainyard::shared_memory
