// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <list>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/files/file_descriptor.h"

namespace trainyard::core {

/// Passes the bytes of connections on to other connections, in both directions, on a thread of its own. If one side of
/// a pair does not read, only this pair waits.
class ByteRelay {
 public:
  static constexpr std::size_t kBuffer = 256 << 10;

  /// Holds at most `buffer` bytes of each direction of a pair that the other side has not taken yet. If one side has
  /// ended, the other may still read what is left, but is given up when it has taken nothing for `patience`.
  explicit ByteRelay(std::size_t buffer = kBuffer, std::chrono::milliseconds patience = std::chrono::seconds(5));
  /// Waits, but only for a moment, until the bytes of connections that have ended have been passed on.
  ~ByteRelay();
  ByteRelay(const ByteRelay&) = delete;
  ByteRelay& operator=(const ByteRelay&) = delete;

  /// Begins to pass bytes between two sockets, until one of them ends. Any thread may call this function.
  void add(FileDescriptor outer, FileDescriptor inner);

  /// Returns the number of pairs whose bytes are being passed on.
  std::size_t pairs() const { return count_; }

 private:
  using Clock = std::chrono::steady_clock;
  enum class State { kWaiting, kReady, kOver };

  /// One direction of a pair.
  struct Way {
    int from = -1;
    int to = -1;
    std::string rest = {};  ///< The bytes that `to` could not take yet.
    bool broken = false;    ///< True if `to` takes no more bytes, because it has ended.
    bool moved = false;     ///< True if `to` has taken bytes since handle() was called.
  };
  struct Pair {
    FileDescriptor outer, inner;
    Way in, out;
    bool ready = false;           ///< True if the pair is in ready_.
    bool over = false;            ///< True if the pair is in over_.
    bool ended = false;           ///< True if one side has ended.
    Clock::time_point last = {};  ///< When an ended pair is given up; the beginning of time unless it is in ending_.
  };

  void run();
  // Waits for events and returns them; the pair of an event is null if the thread was woken for another reason.
  std::vector<Pair*> wait();
  void take_new();
  void handle(Pair& pair);
  State pass(Way& way);
  // Returns false if bytes are left that `to` cannot take yet.
  static bool send_rest(Way& way);
  bool has_rest() const;
  void give_up(Clock::time_point now);
  void remove_over();

  const std::chrono::milliseconds patience_;
  FileDescriptor epoll_, wakeup_;
  std::mutex mutex_;
  std::list<Pair> new_;  ///< Guarded by mutex_. All other variables belong to the thread.
  std::list<Pair> pairs_;
  std::vector<Pair*> ready_;   ///< The pairs that may have more bytes to pass on.
  std::vector<Pair*> ending_;  ///< The pairs of which one side has ended, while the other does not take the last bytes.
  std::vector<Pair*> over_;
  std::vector<char> bytes_;
  Clock::time_point moved_;  ///< When the last bytes arrived, once the relay is stopping.
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace trainyard::core
