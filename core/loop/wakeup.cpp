#include "core/loop/wakeup.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>

#include "messages/error.h"

namespace trainyard {

Wakeup::Wakeup() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (fd_ < 0) throw Error(Code::kIo, "cannot make an eventfd: {}", std::strerror(errno));
}

Wakeup::~Wakeup() { ::close(fd_); }

void Wakeup::done() {
  asleep_.store(false, std::memory_order_relaxed);
  std::uint64_t count = 0;
  [[maybe_unused]] const ssize_t ignored = ::read(fd_, &count, sizeof count);
}

void Wakeup::signal() {
  if (!asleep_.exchange(false, std::memory_order_relaxed)) return;  // Somebody else has done it.
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t ignored = ::write(fd_, &one, sizeof one);
}

}  // namespace trainyard
