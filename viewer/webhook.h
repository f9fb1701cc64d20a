// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

namespace trainyard::viewer {

/// Sends JSON texts to an address with HTTP POST, on a separate thread. A request that takes longer than five seconds
/// is abandoned. At most 64 texts can wait; further ones are dropped. No text is sent twice.
class Webhook {
 public:
  /// `url` is an address such as "http://127.0.0.1:9000/alerts". Throws kInvalidArgument if it has another form; https
  /// is not supported.
  explicit Webhook(const std::string& url);
  /// Drops the texts that are waiting. Returns within five seconds.
  ~Webhook();
  Webhook(const Webhook&) = delete;
  Webhook& operator=(const Webhook&) = delete;

  /// Queues a text. Returns false if the text is dropped because too many are waiting.
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
