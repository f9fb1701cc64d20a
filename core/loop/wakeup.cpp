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

// The producer makes its work visible, executes a fence, and then loads the flag. The sleeper stores the flag, executes
// a fence, and then looks for work. So the producer sees the flag, or the sleeper sees the work, or both.
void notify(Flag& asleep, int pipe) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (asleep.load(std::memory_order_relaxed) == 0) return;
  if (asleep.exchange(0, std::memory_order_relaxed) == 0) return;  // Another thread writes the byte.
  const char byte = 0;
  // If the pipe is full, the write fails, but the pipe is readable anyway, so the thread wakes.
  [[maybe_unused]] const ssize_t ignored = ::write(pipe, &byte, 1);
}

}  // namespace

// The flag takes a whole page, because memory can be shared only in whole pages.
Wakeup::Wakeup() : state_fd_(-1) {
  MemoryFile file = MemoryFile::make(kPage);
  page_ = Mapping(file.fd(), kPage, true);
  // Both ends are non-blocking: a writer need not wait for room, because a full pipe wakes the reader anyway, and
  // done() reads only until the pipe is empty.
  if (::pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) != 0) {
    throw Error(Code::kIo, "cannot make a pipe: {}; `ulimit -n` may be too low", std::strerror(errno));
  }
  state_fd_ = file.release();
}

Wakeup::~Wakeup() {
  for (const int fd : {state_fd_, pipe_[0], pipe_[1]}) ::close(fd);
}

WakeupHandle Wakeup::handle() const { return {MemoryFile::handle_of(state_fd_), pipe_[1]}; }

// The pipe is emptied even if the thread did not sleep, because a producer may have written a byte in the meantime.
void Wakeup::done() {
  asleep().store(0, std::memory_order_relaxed);
  char bytes[64];
  while (::read(pipe_[0], bytes, sizeof bytes) == sizeof bytes) {
  }
}

void Wakeup::notify() { core::notify(asleep(), pipe_[1]); }

PeerWakeup::PeerWakeup(const WakeupHandle& handle) {
  const MemoryFile file = MemoryFile::open(handle.state);  // Throws if another process has this pid now.
  page_ = Mapping(file.fd(), kPage, true);
  const std::string path = fmt::format("/proc/{}/fd/{}", handle.state.pid, handle.pipe);
  // The pipe is opened for reading and writing. As long as this process could read it, a write never raises SIGPIPE,
  // not even when the other process has ended.
  pipe_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (pipe_ < 0) throw Error(Code::kPeerLost, "cannot open the pipe {}: {}", path, std::strerror(errno));
}

PeerWakeup::~PeerWakeup() { ::close(pipe_); }

void PeerWakeup::notify() { core::notify(*reinterpret_cast<Flag*>(page_.data()), pipe_); }

}  // namespace trainyard::core
