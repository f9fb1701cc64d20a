// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace trainyard::viewer {

/// Sends texts to an address with HTTP POST, as application/json, on a thread of its own. Each attempt has five
/// seconds. At most 64 texts wait; further ones are dropped. Nothing is sent twice.
class Webhook {
 public:
  /// `url` is such as "http://127.0.0.1:9000/alerts". Throws kInvalidArgument for anything else, also for https.
  explicit Webhook(const std::string& url);
  /// Drops what waits, and ends within five seconds.
  ~Webhook();
  Webhook(const Webhook&) = delete;
  Webhook& operator=(const Webhook&) = delete;

  /// Queues a text. Returns false if it is dropped.
  bool send(std::string body);

 private:
  void work();

  std::string host_, port_, path_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::string> queue_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace trainyard::viewer
