// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/turnstile.h"

#include <cstring>
#include <filesystem>
#include <new>
#include <string>

#include "collectives/collective.h"
#include "core/rendezvous/rendezvous.h"
#include "messages/error.h"

namespace trainyard::host {
namespace {

// The parts of a word: bit 63 is set if the turnstile is closed, the next 15 bits are the number of the pause, and the
// lowest 48 bits are the number of units that have begun.

constexpr std::uint64_t kClosed = 1ULL << 63;
constexpr int kUnitBits = 48;
constexpr std::uint64_t kUnits = (1ULL << kUnitBits) - 1;
constexpr std::uint64_t kPauses = (1ULL << 15) - 1;
constexpr const char* kNote = "turnstile";

constexpr std::uint64_t fresh_word(std::uint64_t pause) { return (pause & kPauses) << kUnitBits; }
constexpr std::uint64_t pause_of(std::uint64_t word) { return (word >> kUnitBits) & kPauses; }
constexpr std::uint64_t units_of(std::uint64_t word) { return word & kUnits; }

/// Convert a handle to a text and back. Both processes are on the same host and have the same build, so the bytes can
/// be copied.
std::string text_of(const SharedHandle& handle) { return {reinterpret_cast<const char*>(&handle), sizeof handle}; }

SharedHandle handle_from(const std::string& text) {
  SharedHandle handle;
  if (text.size() != sizeof handle) {
    throw Error(Code::kCorrupt, "the note '{}' has {} bytes instead of {}", kNote, text.size(), sizeof handle);
  }
  std::memcpy(&handle, text.data(), sizeof handle);
  return handle;
}

/// Rank 0 makes the memory and publishes a note: its memory_place(), a line feed, and the handle of the memory. The
/// other ranks open that memory.
core::MemoryFile make_or_join(const PluginContext& context, std::chrono::milliseconds timeout) {
  const std::string here = memory_place() + "\n";
  if (context.rank != 0) {
    const std::string note = context.rendezvous->get(kNote, timeout);
    // A handle from another host could, by chance, be valid on this host, so the place is compared first.
    return note.starts_with(here) ? core::MemoryFile::open(handle_from(note.substr(here.size())))
                                  : core::MemoryFile::make(core::kPage);
  }
  core::MemoryFile file = core::MemoryFile::make(core::kPage);
  context.rendezvous->put(kNote, here + text_of(file.handle()));
  return file;
}

}  // namespace

// Memory is opened through /proc/<pid>, so both processes must also be in the same pid namespace.
std::string memory_place() {
  std::error_code error;
  return host_identity() + " " + std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
}

Turnstile::Turnstile()
    : file_(core::MemoryFile::make(core::kPage)),
      mapping_(file_.fd(), core::kPage, true),
      words_(reinterpret_cast<Words*>(mapping_.data())) {}

// The memory is zeroed at first. A zero word means: pause 0, open, no unit begun.
Turnstile::Turnstile(const PluginContext& context, std::chrono::milliseconds timeout)
    : file_(make_or_join(context, timeout)),
      mapping_(file_.fd(), core::kPage, true),
      words_(reinterpret_cast<Words*>(mapping_.data())) {}

std::uint64_t Turnstile::current(std::uint64_t word) const {
  return pause_of(word) == (pause_ & kPauses) ? word : fresh_word(pause_);
}

bool Turnstile::pass() {
  std::uint64_t seen = word().load();
  for (;;) {
    const std::uint64_t now = current(seen);
    // Another rank has already begun this unit, so this rank must do it, too, even if the turnstile is closed.
    if (units_of(now) > begun_) break;
    if ((now & kClosed) != 0) return false;
    if (word().compare_exchange_weak(seen, fresh_word(pause_) | (begun_ + 1))) break;
  }
  ++begun_;
  return true;
}

void Turnstile::close() {
  std::uint64_t seen = word().load();
  while ((current(seen) & kClosed) == 0) {
    if (word().compare_exchange_weak(seen, current(seen) | kClosed)) return;
  }
}

bool Turnstile::at_rest() const {
  const std::uint64_t now = current(word().load());
  return (now & kClosed) != 0 && begun_ >= units_of(now);
}

void Turnstile::reopen() { ++pause_; }

}  // namespace trainyard::host
