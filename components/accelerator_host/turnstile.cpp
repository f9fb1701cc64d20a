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

// A word: one bit says whether it is closed, 15 bits which pause it is about, and 48 bits how many units have begun.

constexpr std::uint64_t kClosed = 1ULL << 63;
constexpr int kUnitBits = 48;
constexpr std::uint64_t kUnits = (1ULL << kUnitBits) - 1;
constexpr std::uint64_t kPauses = (1ULL << 15) - 1;
constexpr const char* kNote = "turnstile";

constexpr std::uint64_t fresh_word(std::uint64_t pause) { return (pause & kPauses) << kUnitBits; }
constexpr std::uint64_t pause_of(std::uint64_t word) { return (word >> kUnitBits) & kPauses; }
constexpr std::uint64_t units_of(std::uint64_t word) { return word & kUnits; }

/// The handle as a note, and back. Both ends are processes of one host and one build.
std::string text_of(const SharedHandle& handle) { return {reinterpret_cast<const char*>(&handle), sizeof handle}; }

SharedHandle handle_from(const std::string& text) {
  SharedHandle handle;
  if (text.size() != sizeof handle) {
    throw Error(Code::kCorrupt, "the note '{}' has {} bytes instead of {}", kNote, text.size(), sizeof handle);
  }
  std::memcpy(&handle, text.data(), sizeof handle);
  return handle;
}

/// The note of rank 0 consists of its place and, after a line feed, the handle.
core::MemoryFile make_or_join(const PluginContext& context, std::chrono::milliseconds timeout) {
  const std::string here = memory_place() + "\n";
  if (context.rank != 0) {
    const std::string note = context.rendezvous->get(kNote, timeout);
    // A handle of another host might by chance fit a file of this one, so it is not tried.
    return note.starts_with(here) ? core::MemoryFile::open(handle_from(note.substr(here.size())))
                                  : core::MemoryFile::make(core::kPage);
  }
  core::MemoryFile file = core::MemoryFile::make(core::kPage);
  context.rendezvous->put(kNote, here + text_of(file.handle()));
  return file;
}

}  // namespace

// Memory is opened through /proc, so processes must see the same pids.
std::string memory_place() {
  std::error_code error;
  return host_identity() + " " + std::filesystem::read_symlink("/proc/self/ns/pid", error).string();
}

Turnstile::Turnstile()
    : file_(core::MemoryFile::make(core::kPage)),
      mapping_(file_.fd(), core::kPage, true),
      words_(reinterpret_cast<Words*>(mapping_.data())) {}

// The memory begins as zeros, which are words of pause 0, open, without a unit.
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
    // Another rank has begun this unit, so this one must follow, closed or not.
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
