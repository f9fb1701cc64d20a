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

/// Joins pairs of connections: on a thread of its own, it passes on the bytes that arrive over either connection of a
/// pair to the other connection. If one side of a pair does not read, only this pair waits.
class ByteRelay {
 public:
  /// The default of the constructor's parameter `buffer`, in bytes.
  static constexpr std::size_t kBuffer = 256 << 10;

  /// For each direction of a pair, the relay holds at most `buffer` bytes that the receiving side has not taken yet.
  /// When one side has ended, the other can still take the remaining bytes; if it takes none of them for `patience`,
  /// the pair is closed. Throws kIo if the system cannot provide a thread or descriptors.
  explicit ByteRelay(std::size_t buffer = kBuffer, std::chrono::milliseconds patience = std::chrono::seconds(5));
  /// Waits up to half a second for the last bytes from the `inner` sides (see add()) to be passed on, then closes all
  /// pairs.
  ~ByteRelay();
  ByteRelay(const ByteRelay&) = delete;
  ByteRelay& operator=(const ByteRelay&) = delete;

  /// Takes ownership of two connected sockets, and passes bytes between them until one of the connections ends. When
  /// the other side has then taken the remaining bytes, both are closed. Only the destructor treats `outer` and `inner`
  /// differently. Any thread may call this function.
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
    Clock::time_point last = {};  ///< The deadline of a pair in ending_, extended when bytes move; otherwise zero.
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
  std::list<Pair> new_;  ///< Guarded by mutex_.
  // Used only by the relay's thread.
  std::list<Pair> pairs_;
  std::vector<Pair*> ready_;  ///< The pairs that may have more bytes to pass on.
  /// The pairs in which one side has ended, and the other has not taken the last bytes yet.
  std::vector<Pair*> ending_;
  std::vector<Pair*> over_;
  std::vector<char> bytes_;
  Clock::time_point moved_;  ///< When bytes last arrived; set only while the relay is stopping.
  // Used by all threads.
  std::atomic<std::size_t> count_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace trainyard::core
