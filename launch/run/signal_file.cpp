// SPDX-License-Identifier: Apache-2.0
#include "launch/run/signal_file.h"

#include <sys/signalfd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "messages/error.h"

namespace trainyard::launch {

BlockedSignals::BlockedSignals(std::initializer_list<int> signals) {
  ::sigemptyset(&set_);
  for (const int signal : signals) ::sigaddset(&set_, signal);
  ::pthread_sigmask(SIG_BLOCK, &set_, nullptr);
}

SignalFile::SignalFile(PollLoop& loop, const BlockedSignals& signals, std::function<void(int)> on_signal)
    : loop_(loop), on_signal_(std::move(on_signal)) {
  file_.reset(::signalfd(-1, &signals.set(), SFD_CLOEXEC | SFD_NONBLOCK));
  if (!file_) throw Error(Code::kIo, "cannot receive signals: {}", std::strerror(errno));
  watch_ = loop_.watch_file(file_.get(), [this] { read(); });
}

SignalFile::~SignalFile() { loop_.cancel(watch_); }

void SignalFile::read() {
  signalfd_siginfo info = {};
  while (::read(file_.get(), &info, sizeof info) == sizeof info) on_signal_(static_cast<int>(info.ssi_signo));
}

}  // namespace trainyard::launch
