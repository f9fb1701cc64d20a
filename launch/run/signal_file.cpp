// SPDX-License-Identifier: Apache-2.0
#include "launch/run/signal_file.h"

#include <signal.h>
#include <sys/signalfd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "messages/error.h"

namespace trainyard::launch {

SignalFile::SignalFile(PollLoop& loop, std::initializer_list<int> signals, std::function<void(int)> on_signal)
    : loop_(loop), on_signal_(std::move(on_signal)) {
  sigset_t set;
  ::sigemptyset(&set);
  for (const int signal : signals) ::sigaddset(&set, signal);
  // The signals are blocked before the file exists; the kernel keeps a signal that arrives in between, and it is read
  // later.
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
  file_.reset(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!file_) throw Error(Code::kIo, "cannot receive signals: {}", std::strerror(errno));
  watch_ = loop_.watch_file(file_.get(), [this] { read(); });
}

SignalFile::~SignalFile() { loop_.cancel(watch_); }

void SignalFile::read() {
  signalfd_siginfo info = {};
  while (::read(file_.get(), &info, sizeof info) == sizeof info) on_signal_(static_cast<int>(info.ssi_signo));
}

}  // namespace trainyard::launch
