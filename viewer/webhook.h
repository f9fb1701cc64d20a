// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace trainyard::viewer {

/// Sends texts to an address with HTTP POST, as application/json, on a separate thread. Each attempt may take five
/// seconds. At most 64 texts wait; further texts are dropped. No text is sent twice.
class Webhook {
 public:
  /// `url` is an address such as "http://127.0.0.1:9000/alerts". Throws kInvalidArgument for any other kind of address,
  /// including https.
  explicit Webhook(const std::string& url);
  /// Drops the waiting texts, and ends within five seconds.
  ~Webhook();
  Webhook(const Webhook&) = delete;
  Webhook& operator=(const Webhook&) = delete;

  /// Adds a text to the queue. Returns false if it is dropped.
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
