// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "messages/error.h"

namespace trainyard::testing {

/// The greeting with which a client of ZeroMQ begins a connection that uses CURVE.
inline std::string curve_greeting() {
  std::string greeting("\xff\0\0\0\0\0\0\0\1\x7f\3\1CURVE", 17);
  greeting.resize(64);
  return greeting;
}

/// The first message of CURVE, with a proof that proves nothing.
inline std::string false_hello() {
  std::string hello("\4\xc8\5HELLO\1\0", 10);
  hello.resize(2 + 200, '\x55');
  return hello;
}

/// Strangers in another process that connect to a port of this host, one after another for some seconds: some of them
/// are silent, some send nonsense, and some begin as a client of ZeroMQ with a key would. As many as possible stay open
/// until the object is destroyed.
class Flood {
 public:
  static std::vector<std::string> words() {
    return {"",
            "GET / HTTP/1.1\r\n\r\n",
            std::string(200, '\xff'),
            std::string("\xff\0\0\0\0\0\0\0\1\x7f\3\1NULL", 16) + std::string(48, '\0'),
            curve_greeting(),
            curve_greeting() + false_hello()};
  }

  /// Begins to make `connections` connections within `duration`, or, if it is 0, as fast as possible.
  Flood(std::uint16_t port, int connections, std::chrono::milliseconds duration,
        const std::vector<std::string>& words = Flood::words())
      : process_(::fork()) {
    if (process_ < 0) throw Error(Code::kIo, "cannot start a flood of connections: {}", std::strerror(errno));
    if (process_ == 0) attack(port, connections, duration, words);
  }
  ~Flood() {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
  Flood(const Flood&) = delete;
  Flood& operator=(const Flood&) = delete;

  /// Returns true when all connections have been made.
  bool done() {
    siginfo_t change{};
    if (!done_ && ::waitid(P_PID, static_cast<id_t>(process_), &change, WSTOPPED | WNOHANG) == 0)
      done_ = change.si_pid != 0;
    return done_;
  }

 private:
  // The process stops itself when it has made its connections. It has only one of the threads of the test, so it calls
  // only the system.
  [[noreturn]] static void attack(std::uint16_t port, int connections, std::chrono::nanoseconds duration,
                                  const std::vector<std::string>& words) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // If the test is killed, so is the flood.
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const int most = static_cast<int>(limit.rlim_cur) - 256;
    timespec next{};
    ::clock_gettime(CLOCK_MONOTONIC, &next);
    std::array<int, 100'000> open{};
    for (int i = 0; i < connections; ++i) {
      const auto slot = static_cast<std::size_t>(i % std::min<int>(most, open.size()));
      if (open[slot] > 0) ::close(open[slot]);
      open[slot] = ::socket(AF_INET, SOCK_STREAM, 0);
      const std::string& word = words[static_cast<std::size_t>(i) % words.size()];
      if (::connect(open[slot], reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 && !word.empty())
        ::send(open[slot], word.data(), word.size(), MSG_NOSIGNAL);
      next.tv_nsec += static_cast<long>(duration.count() / connections);
      if (next.tv_nsec >= 1'000'000'000) {
        ++next.tv_sec;
        next.tv_nsec -= 1'000'000'000;
      }
      if (duration.count() > 0) ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, nullptr);
    }
    ::raise(SIGSTOP);
    while (true) ::pause();
  }

  pid_t process_;
  bool done_ = false;
};

/// Returns the time within which 99 of 100 round trips were complete, and sorts the times.
inline std::chrono::microseconds slow_percentile(std::vector<std::chrono::microseconds>& times) {
  std::ranges::sort(times);
  return times.at(times.size() * 99 / 100);
}

}  // namespace trainyard::testing
