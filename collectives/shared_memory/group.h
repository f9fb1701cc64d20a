// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "collectives/agreement.h"
#include "collectives/collective.h"
#include "collectives/shared_memory/control_block.h"
#include "core/memory/memory_file.h"
#include "core/memory/segment.h"

namespace trainyard::shared_memory {

/// The mapped control blocks of all members, with their uses other than operations: waking members, reporting failures,
/// and checking which members are alive.
class Group {
 public:
  /// Makes this member's block and maps the blocks of the other members. Throws kTimeout, naming the members that do
  /// not connect, and kInvalidArgument if the parameters of the members differ.
  Group(const CollectiveContext& context, std::uint32_t rank, const Layout& layout);
  /// Records that this member has left the group.
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  std::uint32_t rank() const { return rank_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(blocks_.size()); }
  const Layout& layout() const { return layout_; }
  /// Records on which core this member runs.
  void note_core();
  /// Returns true if polling could keep another member from running, because there are more members than cores, or
  /// because another member last ran on the core of this member.
  bool crowded() const;

  Control& of(std::uint32_t member) const { return *reinterpret_cast<Control*>(blocks_[member].data()); }
  Control& own() const { return of(rank_); }
  Channel& channel(std::uint32_t from, std::uint32_t to) const;
  std::byte* ring(std::uint32_t from, std::uint32_t to) const;
  std::byte* slot(std::uint32_t member, std::uint64_t sequence) const;
  std::byte* staging(std::uint32_t member) const { return blocks_[member].data() + layout_.staging(); }

  /// Returns the value of a member's counter. The load has acquire order, so everything that the member did before it
  /// set the counter is visible.
  std::uint64_t count(std::uint32_t member, Counter counter) const {
    return of(member).counts[counter].value.load(std::memory_order_acquire);
  }
  bool everyone_reached(Counter counter, std::uint64_t value) const;
  /// Sets this member's counter with a release store, and wakes the members that wait for this value.
  void count_up(Counter counter, std::uint64_t value);

  /// Wakes the members that wait until all chunks of an operation are done.
  void wake_for_finished();
  /// Wakes `member`, because this member has sent something to it.
  void wake(std::uint32_t member);
  void wake_all();

  /// Announces that this member is about to sleep until the other members satisfy `need`. After this call and before it
  /// sleeps, the caller must check once more whether they already do. Returns the argument for sleep().
  std::uint32_t announce_sleep(const Need& need);
  /// Sleeps until another member wakes this one or until `time` has elapsed; spurious wake-ups are possible. `bell` is
  /// the value that announce_sleep() returned. awake() must be called afterwards.
  void sleep(std::uint32_t bell, std::chrono::nanoseconds time);
  /// Announces that this member is awake, so that the other members need no longer wake it.
  void awake();

  /// Reports a failure to the other members. Only the first report of a member counts.
  void publish_failure(const collectives::Failure& failure);
  /// Returns a failure that another member has reported, or nothing if there is none.
  std::optional<collectives::Failure> failure() const;

  collectives::Presence presence(std::uint32_t member) const;

 private:
  void introduce_itself();
  void connect(const CollectiveContext& context);
  bool too_few_cores() const;
  void ring_bell(Control& control);

  std::uint32_t rank_;
  Layout layout_;
  core::MemoryFile file_;              ///< It stays open as long as other members may map it.
  std::vector<core::Mapping> blocks_;  ///< One per member.
  bool too_few_cores_ = false;
};

}  // namespace trainyard::shared_memory
