// SPDX-License-Identifier: Apache-2.0
#include "viewer/webhook.h"

#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <memory>
#include <regex>
#include <string_view>
#include <utility>

#include "core/loop/quiet_thread.h"
#include "messages/error.h"

namespace trainyard::viewer {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMaxQueued = 64;
constexpr std::chrono::seconds kDeadline{5};

/// Sends one request. No function waits longer than the deadline.
class Post {
 public:
  explicit Post(int socket) : socket_(socket), until_(Clock::now() + kDeadline) {}
  ~Post() { ::close(socket_); }
  Post(const Post&) = delete;
  Post& operator=(const Post&) = delete;

  bool connect(const addrinfo& address) const {
    if (::connect(socket_, address.ai_addr, address.ai_addrlen) == 0) return true;
    if (errno != EINPROGRESS || !wait(POLLOUT)) return false;
    int error = 0;
    socklen_t size = sizeof error;
    return ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == 0;
  }
  bool send(std::string_view bytes) const {
    while (!bytes.empty()) {
      if (!wait(POLLOUT)) return false;
      const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN) return false;
      bytes.remove_prefix(static_cast<std::size_t>(std::max<ssize_t>(sent, 0)));
    }
    return true;
  }
  /// Waits for the beginning of the answer. If the connection were closed earlier, data that was sent could be lost.
  void receive() const {
    char bytes[256];
    if (wait(POLLIN)) [[maybe_unused]]
      const ssize_t ignored = ::recv(socket_, bytes, sizeof bytes, 0);
  }

 private:
  bool wait(short events) const {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until_ - Clock::now()).count();
    pollfd wait{socket_, events, 0};
    return left > 0 && ::poll(&wait, 1, static_cast<int>(left)) > 0;
  }

  int socket_;
  Clock::time_point until_;
};

void post(const std::string& host, const std::string& port, const std::string& path, const std::string& body) {
  addrinfo wanted{}, *found = nullptr;
  wanted.ai_socktype = SOCK_STREAM;
  if (::getaddrinfo(host.c_str(), port.c_str(), &wanted, &found) != 0) return;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  const Post connection(::socket(found->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!connection.connect(*found)) return;
  const std::string request = fmt::format(
      "POST {} HTTP/1.1\r\nHost: {}:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n"
      "Connection: close\r\n\r\n{}",
      path, host, port, body.size(), body);
  if (connection.send(request)) connection.receive();
}

}  // namespace

Webhook::Webhook(const std::string& url) {
  std::smatch parts;
  static const std::regex kForm(R"(http://([A-Za-z0-9.\-]{1,253})(?::([0-9]{1,5}))?(/[!-~]*)?)");
  if (url.size() > 2000 || !std::regex_match(url, parts, kForm)) {
    throw Error(Code::kInvalidArgument,
                "the webhook '{}' is not allowed; allowed is an address such as http://127.0.0.1:9000/alerts", url);
  }
  host_ = parts[1];
  port_ = parts[2].matched ? parts[2].str() : "80";
  path_ = parts[3].matched ? parts[3].str() : "/";
  thread_ = core::quiet_thread("webhook", [this] { work(); });
}

Webhook::~Webhook() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

bool Webhook::send(std::string body) {
  const std::lock_guard lock(mutex_);
  if (queue_.size() >= kMaxQueued) return false;
  queue_.push_back(std::move(body));
  changed_.notify_all();
  return true;
}

void Webhook::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [&] { return stop_ || !queue_.empty(); });
    if (stop_) return;
    const std::string body = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    post(host_, port_, path_, body);
    lock.lock();
  }
}

}  // namespace trainyard::viewer
