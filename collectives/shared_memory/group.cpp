// SPDX-License-Identifier: Apache-2.0
#include "collectives/shared_memory/group.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>
#include <ctime>

#include "core/process/start_ticks.h"

namespace trainyard::shared_memory {
namespace {

std::size_t whole_pages(std::size_t bytes) { return (bytes + core::kPage - 1) / core::kPage * core::kPage; }

/// What each member sends to the others, as plain bytes, when they connect.
struct Introduction {
  SharedHandle handle;
  Layout layout;
};

std::string text_of(const Introduction& introduction) {
  return {reinterpret_cast<const char*>(&introduction), sizeof introduction};
}

Introduction introduction_of(const std::string& text, const std::string& who) {
  Introduction introduction;
  if (text.size() != sizeof introduction) {
    throw Error(Code::kCorrupt, "{} introduces itself with {} bytes, not {}", who, text.size(), sizeof introduction);
  }
  std::memcpy(&introduction, text.data(), sizeof introduction);
  return introduction;
}

std::string words_of(const Layout& layout) {
  return fmt::format("small_bytes={}, staging_bytes={}, ring_bytes={}", layout.slot_bytes, layout.staging_bytes,
                     layout.ring_bytes);
}

}  // namespace

Group::Group(const CollectiveContext& context, std::uint32_t rank, const Layout& layout)
    : rank_(rank), layout_(layout), file_(core::MemoryFile::make(whole_pages(layout.bytes()))) {
  blocks_.resize(layout.members);
  blocks_[rank_] = core::Mapping(file_.fd(), whole_pages(layout.bytes()), true);
  introduce_itself();
  try {
    connect(context);
  } catch (...) {
    // Tells the members that have already mapped the block that this member has left, because the destructor will not
    // run.
    own().left.store(1, std::memory_order_release);
    throw;
  }
  too_few_cores_ = too_few_cores();
}

Group::~Group() {
  own().left.store(1, std::memory_order_release);
  wake_all();
}

void Group::introduce_itself() {
  own().pid = ::getpid();
  own().start_ticks = core::start_ticks(::getpid());
  ::sched_getaffinity(0, sizeof own().cpus, &own().cpus);
}

void Group::connect(const CollectiveContext& context) {
  const auto texts = exchange(*context.rendezvous, context.name + "/shared_memory", context.rank, context.ranks,
                              text_of({file_.handle(), layout_}), context.timeout);
  for (std::uint32_t member = 0; member < size(); ++member) {
    if (member == rank_) continue;
    const std::string who = fmt::format("{}: rank {}", context.where, context.ranks[member]);
    const Introduction other = introduction_of(texts[member], who);
    if (std::memcmp(&other.layout, &layout_, sizeof layout_) != 0) {
      throw Error(Code::kInvalidArgument, "{} has {}, rank {} has {}; all must have the same", who,
                  words_of(other.layout), context.rank, words_of(layout_));
    }
    const core::MemoryFile file = core::MemoryFile::open(other.handle);
    blocks_[member] = core::Mapping(file.fd(), whole_pages(layout_.bytes()), true);
  }
}

bool Group::too_few_cores() const {
  cpu_set_t all;
  CPU_ZERO(&all);
  for (std::uint32_t member = 0; member < size(); ++member) CPU_OR(&all, &all, &of(member).cpus);
  return static_cast<std::uint32_t>(CPU_COUNT(&all)) < size();
}

void Group::note_core() {
  const int core = ::sched_getcpu();
  if (own().core.load(std::memory_order_relaxed) != core) own().core.store(core, std::memory_order_relaxed);
}

bool Group::crowded() const {
  if (too_few_cores_) return true;
  const auto core = own().core.load(std::memory_order_relaxed);
  for (std::uint32_t member = 0; member < size(); ++member) {
    if (member != rank_ && of(member).core.load(std::memory_order_relaxed) == core) return true;
  }
  return false;
}

Channel& Group::channel(std::uint32_t from, std::uint32_t to) const {
  return reinterpret_cast<Channel*>(blocks_[from].data() + layout_.channels())[to];
}

std::byte* Group::ring(std::uint32_t from, std::uint32_t to) const {
  return blocks_[from].data() + layout_.rings() + to * layout_.ring_bytes;
}

std::byte* Group::slot(std::uint32_t member, std::uint64_t sequence) const {
  return blocks_[member].data() + layout_.slots() + sequence % kInFlight * layout_.slot_bytes;
}

bool Group::everyone_reached(Counter counter, std::uint64_t value) const {
  for (std::uint32_t member = 0; member < size(); ++member) {
    if (count(member, counter) < value) return false;
  }
  return true;
}

// No wake-up is lost: a member that stores its counter then executes a fence and checks which members sleep, while a
// member that is about to sleep announces this, executes a fence, and checks the counters once more. So at least one of
// the two sees the other. If two members store their counters at the same time, at least one of them sees both values.
// Only the last member that a sleeping member needs wakes it.
void Group::count_up(Counter counter, std::uint64_t value) {
  own().counts[counter].value.store(value, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::uint32_t member = 0; member < size(); ++member) {
    Control& control = of(member);
    if (member == rank_ || control.asleep.load(std::memory_order_acquire) == 0) continue;
    if (control.need_counter.load(std::memory_order_relaxed) != counter) continue;
    if (everyone_reached(counter, control.need_value.load(std::memory_order_relaxed))) ring_bell(control);
  }
}

void Group::wake_for_finished() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  for (std::uint32_t member = 0; member < size(); ++member) {
    Control& control = of(member);
    if (control.asleep.load(std::memory_order_acquire) == 0) continue;
    if (control.need_counter.load(std::memory_order_relaxed) == kFinished) ring_bell(control);
  }
}

void Group::wake(std::uint32_t member) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (of(member).asleep.load(std::memory_order_acquire) != 0) ring_bell(of(member));
}

void Group::wake_all() {
  for (std::uint32_t member = 0; member < size(); ++member) {
    if (blocks_[member].data() != nullptr) wake(member);  // If connecting failed, some blocks are not mapped.
  }
}

// If several members wake the same member, only one of them makes the system call. The futex is not private
// (FUTEX_PRIVATE_FLAG), because processes share it.
void Group::ring_bell(Control& control) {
  control.bell.fetch_add(1, std::memory_order_release);
  if (control.asleep.exchange(0, std::memory_order_relaxed) == 0) return;
  ::syscall(SYS_futex, &control.bell, FUTEX_WAKE, 1, nullptr, nullptr, 0);
}

std::uint32_t Group::announce_sleep(const Need& need) {
  Control& control = own();
  const std::uint32_t bell = control.bell.load(std::memory_order_acquire);
  control.need_counter.store(need.counter, std::memory_order_relaxed);
  control.need_value.store(need.value, std::memory_order_relaxed);
  control.asleep.store(1, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  return bell;
}

void Group::sleep(std::uint32_t bell, std::chrono::nanoseconds time) {
  constexpr auto kSecond = std::chrono::nanoseconds(std::chrono::seconds(1)).count();
  const timespec span{static_cast<time_t>(time.count() / kSecond), time.count() % kSecond};
  ::syscall(SYS_futex, &own().bell, FUTEX_WAIT, bell, &span, nullptr, 0);
}

void Group::awake() { own().asleep.store(0, std::memory_order_relaxed); }

void Group::publish_failure(const collectives::Failure& failure) {
  FailureNote& note = own().failure;
  if (note.state.load(std::memory_order_relaxed) != FailureNote::kNone) return;
  note.state.store(FailureNote::kWriting, std::memory_order_relaxed);
  note.code = static_cast<std::uint32_t>(failure.code);
  failure.text.copy(note.text, sizeof note.text - 1);  // The memory was zeroed, so the text is null-terminated.
  note.state.store(FailureNote::kThere, std::memory_order_release);
  wake_all();
}

std::optional<collectives::Failure> Group::failure() const {
  for (std::uint32_t member = 0; member < size(); ++member) {
    const FailureNote& note = of(member).failure;
    if (member == rank_ || note.state.load(std::memory_order_acquire) != FailureNote::kThere) continue;
    return collectives::Failure{static_cast<Code>(note.code),
                                std::string(note.text, ::strnlen(note.text, sizeof note.text))};
  }
  return {};
}

collectives::Presence Group::presence(std::uint32_t member) const {
  const Control& control = of(member);
  if (control.left.load(std::memory_order_acquire) != 0) return collectives::Presence::kLeft;
  if (control.pid == own().pid || core::start_ticks(control.pid) == control.start_ticks)
    return collectives::Presence::kHere;
  return collectives::Presence::kLost;
}

}  // namespace trainyard::shared_memory
