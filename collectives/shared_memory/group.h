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

/// The control blocks of all members: each member shares one block of memory, which contains counters, operations and
/// buffers (control_block.h), and maps the blocks of the others. This class also wakes members, reports failures, and
/// checks which members are alive. "This member" is the member that the object belongs to.
class Group {
 public:
  /// Makes this member's block and maps the blocks of the other members. Throws kTimeout, naming the ranks that do not
  /// connect, and kInvalidArgument if the layouts of the members differ because their parameters differ.
  Group(const CollectiveContext& context, std::uint32_t rank, const Layout& layout);
  /// Records that this member has left the group.
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  std::uint32_t rank() const { return rank_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(blocks_.size()); }
  const Layout& layout() const { return layout_; }
  /// Records on which processor core this member runs; see crowded().
  void note_core();
  /// Returns true if a member that polls could keep another member from running. This is the case if there are more
  /// members than cores, or if another member last ran on the same core as this member.
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
  /// Returns true if the counters of all members have reached `value`.
  bool everyone_reached(Counter counter, std::uint64_t value) const;
  /// Sets this member's counter with a release store, and wakes the members that wait for this value.
  void count_up(Counter counter, std::uint64_t value);

  /// Wakes the members that wait until all chunks of an in-place operation are done.
  void wake_for_finished();
  /// Wakes `member`. Called after this member has sent something to `member`.
  void wake(std::uint32_t member);
  void wake_all();

  /// Announces that this member is about to sleep until the condition `need` is met. After this call, the caller must
  /// check the condition once more, call sleep() only if it is not met yet, and in any case call awake() at the end.
  /// Returns the first argument for sleep().
  std::uint32_t announce_sleep(const Need& need);
  /// Sleeps until another member wakes this one or until `time` has elapsed; spurious wake-ups are possible. `bell` is
  /// the value that announce_sleep() returned.
  void sleep(std::uint32_t bell, std::chrono::nanoseconds time);
  /// Announces that this member is awake, so that the other members no longer try to wake it.
  void awake();

  /// Reports a failure to the other members. Each member can report only one failure; further calls do nothing.
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
  /// The file with this member's block. It stays open because other members may still have to map it.
  core::MemoryFile file_;
  std::vector<core::Mapping> blocks_;  ///< The block of each member, as mapped by this process.
  bool too_few_cores_ = false;
};

}  // namespace trainyard::shared_memory
