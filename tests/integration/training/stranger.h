// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>
#include <zmq.hpp>

#include "messages/subscription.h"

namespace trainyard::testing {

/// A client that attaches to a run and misbehaves: it does not read what the run sends, except in answer().
class Stranger {
 public:
  /// Connects to a gateway or to the registry. The socket buffers as few received messages as possible.
  Stranger(zmq::context_t& context, const std::string& endpoint);

  void subscribe(const Subscribe& request);
  void send(const std::vector<std::string>& frames);
  /// Returns the next answer to a subscription. If none arrives within 20 seconds, returns an answer with the error "no
  /// answer".
  Subscribed answer();

 private:
  zmq::socket_t socket_;
};

/// The resources that a launch uses: the memory of all its processes, where memory that they share is counted only
/// once, and the number of their file descriptors.
struct Taken {
  std::uint64_t bytes = 0;
  std::uint64_t descriptors = 0;
};
/// Returns the resources that these processes use together.
Taken taken_by(const std::vector<pid_t>& processes);

/// A client that behaves well: on a separate thread it asks the registry one question after another, until it is
/// stopped or destroyed.
class GoodClient {
 public:
  explicit GoodClient(std::string registry);

  std::uint64_t answers() const { return answers_; }
  /// Returns a description of what went wrong, or an empty string. Must be called after stop().
  const std::string& complaint() const { return complaint_; }
  /// Returns the time within which 99 percent of the questions were answered. Must be called after stop().
  std::chrono::milliseconds p99() const;
  void stop();

 private:
  void ask_until_stopped(const std::string& registry);

  std::atomic<std::uint64_t> answers_{0};
  std::atomic<bool> stopping_{false};
  std::string complaint_;
  std::vector<std::chrono::microseconds> times_;
  std::jthread thread_;
};

}  // namespace trainyard::testing
