// SPDX-License-Identifier: Apache-2.0
#include "viewer/webhook.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "core/testing/error_of.h"

namespace trainyard::viewer {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A server that accepts connections and returns to the test the requests that it received.
class Listener {
 public:
  Listener() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(::listen(socket_, 8), 0);
    EXPECT_EQ(::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~Listener() { ::close(socket_); }

  std::string url(const std::string& path) const { return "http://127.0.0.1:" + std::to_string(port_) + path; }

  /// Waits for the next request, which ends with `end`, answers it, and returns it.
  std::string request(const std::string& end) const {
    pollfd wait{socket_, POLLIN, 0};
    if (::poll(&wait, 1, 20'000) <= 0) return {};
    const int client = ::accept(socket_, nullptr, nullptr);
    std::string text;
    char bytes[4096];
    for (pollfd more{client, POLLIN, 0}; !text.ends_with(end) && ::poll(&more, 1, 20'000) > 0;) {
      const ssize_t got = ::recv(client, bytes, sizeof bytes, 0);
      if (got <= 0) break;
      text.append(bytes, static_cast<std::size_t>(got));
    }
    ::send(client, "HTTP/1.1 200 OK\r\n\r\n", 19, MSG_NOSIGNAL);
    ::close(client);
    return text;
  }

 private:
  int socket_;
  int port_ = 0;
};

TEST(WebhookTest, SendsEachTextAsARequestOfItsOwn) {
  const Listener listener;
  Webhook webhook(listener.url("/alerts?team=1"));
  EXPECT_TRUE(webhook.send("{\"kind\":\"nan\"}"));
  EXPECT_TRUE(webhook.send("{\"kind\":\"disk\"}"));
  const std::string first = listener.request("}");
  EXPECT_THAT(first, StartsWith("POST /alerts?team=1 HTTP/1.1\r\n"));
  EXPECT_THAT(first, HasSubstr("Content-Type: application/json\r\n"));
  EXPECT_THAT(first, HasSubstr("Content-Length: 14\r\n"));
  EXPECT_THAT(first, HasSubstr("\r\n\r\n{\"kind\":\"nan\"}"));
  EXPECT_THAT(listener.request("}"), HasSubstr("\r\n\r\n{\"kind\":\"disk\"}"));
}

TEST(WebhookTest, AServerThatDoesNotAnswerCostsNothingButItsAlerts) {
  const Listener silent;
  Webhook webhook(silent.url("/"));
  int taken = 0;
  for (int i = 0; i < 1000; ++i) taken += webhook.send("{}") ? 1 : 0;
  EXPECT_GE(taken, 64);
  EXPECT_LE(taken, 66) << "what waits is bounded";
  // The destructor returns at the latest when the deadline of the current request has passed.
}

TEST(WebhookTest, RefusesWhatIsNoAddress) {
  for (const char* url : {"", "127.0.0.1:9000", "https://127.0.0.1/", "http://", "http://a b/", "http://a/\r\nX: y"}) {
    const auto [code, text] = trainyard::testing::error_of([&] { Webhook webhook(url); });
    EXPECT_EQ(code, Code::kInvalidArgument) << url;
    EXPECT_THAT(text, HasSubstr("allowed is an address such as http://127.0.0.1:9000/alerts"));
  }
}

}  // namespace
}  // namespace trainyard::viewer
