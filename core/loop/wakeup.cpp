#include "core/loop/wakeup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "core/memory/memory_file.h"
#include "messages/error.h"

namespace trainyard {

namespace {

using Flag = std::atomic<std::uint32_t>;
static_assert(Flag::is_always_lock_free);

// Fence, then look at the flag; the sleeper stores the flag, fences, then looks for work. One of the two sees the
// other.
void notify(Flag& asleep, int pipe) {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (asleep.load(std::memory_order_relaxed) == 0) return;
  if (asleep.exchange(0, std::memory_order_relaxed) == 0) return;  // Somebody else has done it.
  const char byte = 0;
  [[maybe_unused]] const ssize_t ignored = ::write(pipe, &byte, 1);  // Full is as good: it is readable.
}

}  // namespace

// A page for one flag: memory is shared by pages, and a loop needs one.
Wakeup::Wakeup() : state_fd_(-1) {
  MemoryFile file = MemoryFile::make(kPage);
  page_ = Mapping(file.fd(), kPage, true);
  // Neither end ever waits: a full pipe is readable, an empty one has been read.
  if (::pipe2(pipe_, O_CLOEXEC | O_NONBLOCK) != 0) {
    throw Error(Code::kIo, "cannot make a pipe: {}; `ulimit -n` may be too low", std::strerror(errno));
  }
  state_fd_ = file.release();
}

Wakeup::~Wakeup() {
  for (const int fd : {state_fd_, pipe_[0], pipe_[1]}) ::close(fd);
}

WakeupHandle Wakeup::handle() const { return {MemoryFile::handle_of(state_fd_), pipe_[1]}; }

// Emptied in any case: a producer may have written between prepare() and now without our sleeping.
void Wakeup::done() {
  asleep().store(0, std::memory_order_relaxed);
  char bytes[64];
  while (::read(pipe_[0], bytes, sizeof bytes) == sizeof bytes) {
  }
}

void Wakeup::notify() { trainyard::notify(asleep(), pipe_[1]); }

PeerWakeup::PeerWakeup(const WakeupHandle& handle) {
  const MemoryFile file = MemoryFile::open(handle.state);  // It is that process still, so the pipe is that one too.
  page_ = Mapping(file.fd(), kPage, true);
  const std::string path = fmt::format("/proc/{}/fd/{}", handle.state.pid, handle.pipe);
  // Both ends: with a reader there is never a SIGPIPE, not even when the other process is gone.
  pipe_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
  if (pipe_ < 0) throw Error(Code::kPeerLost, "cannot open the pipe {}: {}", path, std::strerror(errno));
}

PeerWakeup::~PeerWakeup() { ::close(pipe_); }

void PeerWakeup::notify() { trainyard::notify(*reinterpret_cast<Flag*>(page_.data()), pipe_); }

}  // namespace trainyard
