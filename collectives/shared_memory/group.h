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

/// The control blocks of all members, mapped, and what goes through them besides the operations: waking sleepers,
/// reporting failures, and seeing who is alive.
class Group {
 public:
  /// Makes this member's block and maps the others'. Throws kTimeout, naming those that do not come, and
  /// kInvalidArgument if they were made with other parameters.
  Group(const CollectiveContext& context, std::uint32_t rank, const Layout& layout);
  /// Tells the others that this member is no longer there.
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  std::uint32_t rank() const { return rank_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(blocks_.size()); }
  const Layout& layout() const { return layout_; }
  /// Notes on which core this member runs.
  void note_core();
  /// True if a member that spins may keep another one from running: there are more members than cores for them, or
  /// another one was last seen on this one's core.
  bool crowded() const;

  Control& of(std::uint32_t member) const { return *reinterpret_cast<Control*>(blocks_[member].data()); }
  Control& own() const { return of(rank_); }
  Channel& channel(std::uint32_t from, std::uint32_t to) const;
  std::byte* ring(std::uint32_t from, std::uint32_t to) const;
  std::byte* slot(std::uint32_t member, std::uint64_t sequence) const;
  std::byte* staging(std::uint32_t member) const { return blocks_[member].data() + layout_.staging(); }

  /// The load is an acquire, so what that member did before is visible.
  std::uint64_t count(std::uint32_t member, Counter counter) const {
    return of(member).counts[counter].value.load(std::memory_order_acquire);
  }
  bool everyone_reached(Counter counter, std::uint64_t value) const;
  /// The store is a release. Wakes those who need no more than this.
  void count_up(Counter counter, std::uint64_t value);

  /// All chunks of the operation are done: wakes those who wait for it.
  void wake_for_finished();
  /// Wakes `member`, because this one has something for it.
  void wake(std::uint32_t member);
  void wake_all();

  /// Announces that this member is about to sleep until others provide what it needs. It must look for that once more
  /// afterwards. Returns the argument for sleep().
  std::uint32_t announce_sleep(const Need& need);
  /// Sleeps until woken or until `time` is over; it may also return for no reason. awake() must follow.
  void sleep(std::uint32_t bell, std::chrono::nanoseconds time);
  void awake();

  /// Tells the others, if nothing has been reported before.
  void publish_failure(const collectives::Failure& failure);
  /// What another member has reported.
  std::optional<collectives::Failure> failure() const;

  collectives::Presence presence(std::uint32_t member) const;

 private:
  void introduce_itself();
  void connect(const CollectiveContext& context);
  bool too_few_cores() const;
  void ring_bell(Control& control);

  std::uint32_t rank_;
  Layout layout_;
  core::MemoryFile file_;              ///< Open as long as others may want to map it.
  std::vector<core::Mapping> blocks_;  ///< One per member.
  bool too_few_cores_ = false;
};

}  // namespace trainyard::shared_memory
