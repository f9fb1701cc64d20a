// SPDX-License-Identifier: Apache-2.0
#include "core/loop/wakeup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/memory/memory_file.h"
#include "messages/error.h"

namespace trainyard::core {

namespace {

using Flag = std::atomic<std::uint32_t>;
static_assert(Flag::is_always_lock_free);

// The producer fences, then looks at the flag; the sleeper stores the flag, fences, then looks for work. One of the two
// sees the other.
void notify(Flag& asleep, int pipe) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (asleep.load(std::memory_order_relaxed) == 0) return;
  if (asleep.exchange(0, std::memory_order_relaxed) == 0) return;  // Somebody else has written the byte.
  const char byte = 0;
  // A full pipe does no harm, because it is readable.
  [[maybe_unused]] const ssize_t ignored = ::write(pipe, &byte, 1);
}

}  // namespace

// The flag takes a whole page, because memory is shared by pages; a loop needs only one.
Wakeup::Wakeup() : state_fd_(-1) {
  MemoryFile file = MemoryFile::make(kPage);
  page_ = Mapping(file.fd(), kPage, true);
  // Neither end ever waits: a full pipe is readable, and an empty one has been read.
  if (::pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) != 0) {
    throw Error(Code::kIo, "cannot make a pipe: {}; `ulimit -n` may be too low", std::strerror(errno));
  }
  state_fd_ = file.release();
}

Wakeup::~Wakeup() {
  for (const int fd : {state_fd_, pipe_[0], pipe_[1]}) ::close(fd);
}

WakeupHandle Wakeup::handle() const { return {MemoryFile::handle_of(state_fd_), pipe_[1]}; }

// The pipe is emptied in any case, because a producer may have written before the thread went to sleep.
void Wakeup::done() {
  asleep().store(0, std::memory_order_relaxed);
  char bytes[64];
  while (::read(pipe_[0], bytes, sizeof bytes) == sizeof bytes) {
  }
}

void Wakeup::notify() { core::notify(asleep(), pipe_[1]); }

PeerWakeup::PeerWakeup(const WakeupHandle& handle) {
  const MemoryFile file = MemoryFile::open(handle.state);  // The process is still the same one, so the pipe is too.
  page_ = Mapping(file.fd(), kPage, true);
  const std::string path = fmt::format("/proc/{}/fd/{}", handle.state.pid, handle.pipe);
  // The pipe is opened at both ends, because a pipe that has a reader never raises SIGPIPE, not even when the other
  // process is gone.
  pipe_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (pipe_ < 0) throw Error(Code::kPeerLost, "cannot open the pipe {}: {}", path, std::strerror(errno));
}

PeerWakeup::~PeerWakeup() { ::close(pipe_); }

void PeerWakeup::notify() { core::notify(*reinterpret_cast<Flag*>(page_.data()), pipe_); }

}  // namespace trainyard::core
