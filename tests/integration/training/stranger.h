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

/// A program that attaches to a run and does not keep to the rules: it reads nothing unless it is told to.
class Stranger {
 public:
  /// Connects to a gateway or to the registry. It takes as little as possible off its connection.
  Stranger(zmq::context_t& context, const std::string& endpoint);

  void subscribe(const Subscribe& request);
  void send(const std::vector<std::string>& frames);
  /// Returns the next answer to a subscription, or one with the error "no answer" after a deadline.
  Subscribed answer();

 private:
  zmq::socket_t socket_;
};

/// What a launch takes: the memory of all its processes, where shared pages count once, and their descriptors.
struct Taken {
  std::uint64_t bytes = 0;
  std::uint64_t descriptors = 0;
};
Taken taken_by(const std::vector<pid_t>& processes);

/// A client that keeps to the rules: it asks the registry again and again, on a thread of its own, until it is
/// destroyed.
class GoodClient {
 public:
  explicit GoodClient(std::string registry);

  std::uint64_t answers() const { return answers_; }
  /// Returns what went wrong; empty if nothing did. To be asked after stop().
  const std::string& complaint() const { return complaint_; }
  /// Returns the time within which 99 of 100 questions were answered. To be asked after stop().
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
