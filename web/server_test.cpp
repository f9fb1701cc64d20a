// SPDX-License-Identifier: Apache-2.0
// Tests a server from outside, with attacks that send arbitrary bytes over sockets.
#include "web/server.h"

#include <gmock/gmock.h>

#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

#include "core/testing/error_of.h"
#include "core/testing/temporary_folder.h"
#include "web/testing/raw_client.h"

namespace trainyard::web {
namespace {

using testing::Frame;
using ::testing::HasSubstr;
using ::testing::Not;
using testing::RawClient;
using ::testing::StartsWith;

bool eventually(const std::function<bool()>& done) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (!done()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

/// Answers every message with the same message. Answers "much" with 64 KiB, and throws an exception at "throw".
class Echo final : public ChannelHandler {
 public:
  Echo(Channel& channel, std::set<Channel*>& all, std::mutex& mutex) : channel_(channel), all_(all), mutex_(mutex) {
    const std::lock_guard lock(mutex_);
    all_.insert(&channel_);
  }
  ~Echo() override {
    const std::lock_guard lock(mutex_);
    all_.erase(&channel_);
  }
  void on_message(std::string_view message, bool binary) override {
    if (message == "throw") throw Error(Code::kInternal, std::string("as it was told"));
    if (message == "much") return channel_.answer(std::string(64 << 10, 'm'));
    if (message == "role") return channel_.answer(std::string(name_of(channel_.role())));
    channel_.answer(std::string(message), binary);
  }

 private:
  Channel& channel_;
  std::set<Channel*>& all_;
  std::mutex& mutex_;
};

class ServerTest : public ::testing::Test {
 protected:
  void start(Limits limits = {}) {
    Settings settings;
    settings.limits = limits;
    start(settings);
  }

  void start(const Settings& settings) {
    server_.emplace(settings);
    Files files;
    files.add("/index.html", "<p>page");
    server_->serve(files);
    server_->on_get("/number", [](const Request& request) {
      if (request.query.contains("throw")) throw Error(Code::kInternal, std::string("no number"));
      return plain(200, std::string(name_of(request.role)) + " 42");
    });
    const auto make = [this](Channel& channel) { return std::make_unique<Echo>(channel, channels_, mutex_); };
    server_->on_channel({.path = "/ws"}, make);
    server_->on_channel({.path = "/other", .subprotocol = "other.v1", .origins = {"https://app.example.org"}}, make);
    server_->start();
  }

  RawClient client() const { return RawClient(server_->port()); }
  std::string token(Role role = Role::kControl) const {
    const std::string url = server_->url(role);
    return url.substr(url.find('=') + 1);
  }
  std::string cookie() const { return "Cookie: trainyard_" + std::to_string(server_->port()) + "=" + token() + "\r\n"; }
  std::string own_origin() const { return "Origin: http://127.0.0.1:" + std::to_string(server_->port()) + "\r\n"; }
  std::unique_ptr<RawClient> connected(int receive_buffer = 0) {
    auto one = std::make_unique<RawClient>(server_->port(), receive_buffer);
    EXPECT_THAT(one->upgrade("/ws", cookie() + own_origin()), StartsWith("HTTP/1.1 101"));
    return one;
  }

  std::mutex mutex_;
  std::set<Channel*> channels_;
  std::optional<Server> server_;
};

TEST_F(ServerTest, ExchangesTheTokenOfTheAddressForACookie) {
  start();
  const std::string answer = client().get("/?token=" + token());
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 303"));
  EXPECT_THAT(answer, HasSubstr("Location: /\r\n"));
  EXPECT_THAT(answer, HasSubstr("Set-Cookie: trainyard_" + std::to_string(server_->port()) + "=" + token() +
                                "; HttpOnly; SameSite=Strict; Path=/\r\n"));
  const std::string page = client().get("/", cookie());
  EXPECT_THAT(page, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(page, HasSubstr("<p>page"));
}

TEST_F(ServerTest, SendsStrictFieldsWithEveryAnswer) {
  start();
  for (const std::string& answer : {client().get("/", cookie()), client().get("/"), client().get("/none", cookie())}) {
    EXPECT_THAT(answer, HasSubstr("Content-Security-Policy: default-src 'self';"));
    EXPECT_THAT(answer, HasSubstr("X-Content-Type-Options: nosniff\r\n"));
    EXPECT_THAT(answer, HasSubstr("Referrer-Policy: no-referrer\r\n"));
    EXPECT_THAT(answer, HasSubstr("X-Frame-Options: DENY\r\n"));
    EXPECT_THAT(answer, Not(HasSubstr("Access-Control")));
  }
}

TEST_F(ServerTest, RefusesEverythingWithoutTheToken) {
  start();
  for (const char* target : {"/", "/index.html", "/number", "/none", "/?token=", "/?token=wrong", "/../etc/passwd"}) {
    const std::string answer = client().get(target);
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 403")) << target;
    EXPECT_THAT(answer, HasSubstr("The token is missing or wrong."));
    EXPECT_THAT(answer, Not(HasSubstr("page</p>")));
  }
  EXPECT_THAT(client().upgrade("/ws", own_origin()), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(client().upgrade("/ws?token=wrong", own_origin() + cookie()), StartsWith("HTTP/1.1 403"));
  EXPECT_GE(server_->counters().refused, 9u);
}

TEST_F(ServerTest, RefusesForeignHostsAndForeignPages) {
  start();
  EXPECT_THAT(client().get("/", cookie(), "evil.example:" + std::to_string(server_->port())), HasSubstr("(Host)"));
  EXPECT_THAT(client().get("/", cookie() + "Origin: http://evil.example\r\n"), HasSubstr("(Origin)"));
  EXPECT_THAT(client().upgrade("/ws?token=" + token(), "Origin: http://evil.example\r\n"), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(client().upgrade("/ws", cookie()), StartsWith("HTTP/1.1 403"));
  EXPECT_THAT(client().get("/", cookie(), "localhost:" + std::to_string(server_->port())), HasSubstr("<p>page"));
}

TEST_F(ServerTest, NoPathLeadsOutOfWhatIsServed) {
  start();
  for (const char* target : {"/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc/passwd",
                             "//etc/passwd", "/./index.html", "/index.html%00.js", "/index.html/"}) {
    EXPECT_THAT(client().get(target, cookie()), StartsWith("HTTP/1.1 404")) << target;
  }
  EXPECT_THAT(client().get("http://127.0.0.1/", cookie()), StartsWith("HTTP/1.1 404"));
}

TEST_F(ServerTest, AnswersRegisteredPathsWithTheRole) {
  start();
  EXPECT_THAT(client().get("/number?token=" + token(Role::kWatch)), HasSubstr("watch 42"));
  EXPECT_THAT(client().get("/number", "Authorization: Bearer " + token() + "\r\n"), HasSubstr("control 42"));
  EXPECT_THAT(client().get("/number?throw=1&token=" + token()), StartsWith("HTTP/1.1 500"));
}

TEST_F(ServerTest, AnswersSeveralRequestsOfOneConnectionAndOnlyGetAndHead) {
  start();
  RawClient one(server_->port());
  EXPECT_THAT(one.get("/", cookie()), HasSubstr("<p>page"));
  EXPECT_THAT(one.get("/number", cookie()), HasSubstr("control 42"));
  const std::string port = std::to_string(server_->port());
  EXPECT_TRUE(one.send("DELETE / HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n" + cookie() + "\r\n"));
  EXPECT_THAT(one.receive(), StartsWith("HTTP/1.1 405"));
  EXPECT_TRUE(one.send("HEAD / HTTP/1.1\r\nHost: 127.0.0.1:" + port + "\r\n" + cookie() + "\r\n"));
  const std::string head = one.receive();
  EXPECT_THAT(head, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(head, HasSubstr("Content-Length: 7\r\n"));
  EXPECT_THAT(head, Not(HasSubstr("page")));
}

TEST_F(ServerTest, RefusesHeadsAndBodiesThatAreTooLarge) {
  start();
  EXPECT_THAT(client().get("/", cookie() + "X: " + std::string(9000, 'x') + "\r\n"), StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(client().get("/" + std::string(9000, 'x'), cookie()), StartsWith("HTTP/1.1 431"));
  EXPECT_THAT(client().get("/", cookie() + "Content-Length: 1000000\r\n"), StartsWith("HTTP/1.1 413"));
  EXPECT_THAT(client().get("/", cookie() + "Content-Length: -1\r\n"), StartsWith("HTTP/1.1 400"));
  RawClient babbler(server_->port());
  babbler.send("\x16\x03\x01 this is not HTTP\r\n\r\n");
  EXPECT_THAT(babbler.receive(), StartsWith("HTTP/1.1 400"));
}

TEST_F(ServerTest, AHeadThatNeverEndsDoesNotGrowOrLive) {
  start({.handshake = std::chrono::milliseconds(300)});
  RawClient endless(server_->port());
  endless.send("GET / HTTP/1.1\r\nX: ");
  // The server closes the connection when the head is too large or takes too long.
  for (int i = 0; i < 100'000 && endless.send(std::string(1024, 'x')); ++i) {
  }
  EXPECT_TRUE(endless.closed_by_server());
  EXPECT_TRUE(eventually([&] { return server_->counters().connections == 0; }));
}

TEST_F(ServerTest, ConnectionsThatSayNothingKeepNobodyOut) {
  start({.connections = 16, .guests = 4, .handshake = std::chrono::seconds(60)});
  std::vector<std::unique_ptr<RawClient>> silent;
  for (int i = 0; i < 100; ++i) {
    silent.push_back(std::make_unique<RawClient>(server_->port()));
    if (i % 2 == 0) silent.back()->send("GET / HTTP/1.1\r\n");
  }
  EXPECT_THAT(client().get("/", cookie()), HasSubstr("<p>page"));
  const auto good = connected();
  good->send_frame("hello");
  EXPECT_EQ(good->receive_frame()->payload, "hello");
  EXPECT_LE(server_->counters().connections, 16u);
  EXPECT_TRUE(eventually([&] { return server_->counters().turned_away >= 96; }));
  EXPECT_TRUE(silent.front()->closed_by_server());
}

TEST_F(ServerTest, HalfOpenHandshakesEndByThemselves) {
  start({.handshake = std::chrono::milliseconds(200)});
  RawClient silent(server_->port()), begun(server_->port());
  begun.send("GET /ws HTTP/1.1\r\nUpgrade: websocket\r\n");
  EXPECT_TRUE(silent.closed_by_server());
  EXPECT_TRUE(begun.closed_by_server());
}

TEST_F(ServerTest, HasABoundOfAllConnections) {
  start({.connections = 8, .guests = 4});
  std::vector<std::unique_ptr<RawClient>> good;
  for (int i = 0; i < 8; ++i) good.push_back(connected());
  RawClient late(server_->port());
  EXPECT_TRUE(late.closed_by_server());
  EXPECT_EQ(server_->counters().connections, 8u);
  good.pop_back();
  EXPECT_TRUE(eventually([&] { return client().get("/", cookie()).find("<p>page") != std::string::npos; }));
}

TEST_F(ServerTest, CarriesMessagesInBothDirections) {
  start();
  const auto one = connected();
  for (const std::string& text : {std::string("hello"), std::string(60'000, 'x'), std::string()}) {
    one->send_frame(text);
    const auto frame = one->receive_frame();
    ASSERT_TRUE(frame);
    EXPECT_EQ(frame->opcode, 1);
    EXPECT_EQ(frame->payload, text);
  }
  one->send_frame("\x01\x02", 2);
  EXPECT_EQ(one->receive_frame()->opcode, 2);
  RawClient watcher(server_->port());
  EXPECT_THAT(watcher.upgrade("/ws?token=" + token(Role::kWatch)), StartsWith("HTTP/1.1 101"));
  watcher.send_frame("role");
  EXPECT_EQ(watcher.receive_frame()->payload, "watch");
}

TEST_F(ServerTest, AsksForTheSubprotocolThatAPathNeeds) {
  start();
  EXPECT_THAT(client().upgrade("/other?token=" + token()), StartsWith("HTTP/1.1 400"));
  const std::string head = client().upgrade(
      "/other?token=" + token(), "Origin: https://app.example.org\r\nSec-WebSocket-Protocol: x, other.v1\r\n");
  EXPECT_THAT(head, StartsWith("HTTP/1.1 101"));
  EXPECT_THAT(head, HasSubstr("Sec-WebSocket-Protocol: other.v1\r\n"));
  EXPECT_THAT(client().upgrade("/none?token=" + token()), StartsWith("HTTP/1.1 404"));
}

TEST_F(ServerTest, ClosesAWebSocketWhoseMessageIsTooLarge) {
  start();
  const auto one = connected();
  one->send_frame(std::string(70'000, 'x'));
  const auto frame = one->receive_frame();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->opcode, 8);
  EXPECT_EQ(frame->payload, "\x03\xf1") << "1009, too large";
  // This is only the head of a frame, which announces 2^62 bytes.
  const auto other = connected();
  other->send(std::string("\x81\xff\x40\0\0\0\0\0\0\0\x11\x22\x33\x44", 14));
  EXPECT_TRUE(other->closed_by_server());
}

TEST_F(ServerTest, ClosesAWebSocketThatBreaksTheProtocol) {
  start();
  for (const std::string& bytes :
       {std::string("\x81\x05hello"), std::string(14, '\xff'), std::string("\x83\x80\x11\x22\x33\x44", 6)}) {
    const auto one = connected();
    one->send(bytes);
    EXPECT_TRUE(one->closed_by_server());
  }
  const auto thrower = connected();
  thrower->send_frame("throw");
  EXPECT_TRUE(thrower->closed_by_server());
  const auto good = connected();
  good->send_frame("still here");
  EXPECT_EQ(good->receive_frame()->payload, "still here");
}

TEST_F(ServerTest, ASlowReaderMissesPushesAndOthersDoNot) {
  start({.queued_bytes = 256 << 10});
  const auto slow = connected(4096);
  ASSERT_TRUE(eventually([&] { return std::lock_guard(mutex_), channels_.size() == 1; }));
  const auto large = std::make_shared<const std::string>(64 << 10, 'p');
  // The messages first fill the buffers of the kernel. Together, they are far larger than these buffers and the queue.
  const auto offer = [&] { return std::lock_guard(mutex_), (*channels_.begin())->push(large); };
  int taken = 0;
  while (offer() || taken < 20) ASSERT_LT(++taken, 2000);
  ASSERT_TRUE(eventually([&] {
    for (int i = 0; i < 100; ++i) {
      if (offer()) return false;
    }
    return true;
  }));
  EXPECT_GE(server_->counters().missed, 100u);
  const auto quick = connected();
  quick->send_frame("hello");
  EXPECT_EQ(quick->receive_frame()->payload, "hello");
}

TEST_F(ServerTest, AClientThatReadsNoAnswersIsNotReadEither) {
  start({.queued_bytes = 64 << 10});
  const auto greedy = connected(4096);
  // Each of these asks for 64 KiB. When the queue is full, the server stops reading, so sending stops, too.
  int sent = 0;
  while (sent < 1'000'000 && greedy->send_frame("much")) ++sent;
  EXPECT_LT(sent, 1'000'000);
  // When the client reads again, it gets its answers.
  for (int i = 0; i < 50; ++i) {
    const auto frame = greedy->receive_frame();
    ASSERT_TRUE(frame) << i;
    EXPECT_EQ(frame->payload.size(), 64u << 10);
  }
}

TEST_F(ServerTest, ClosesAWebSocketThatGivesNoSignOfLife) {
  start({.idle = std::chrono::milliseconds(400)});
  const auto dead = connected();
  EXPECT_TRUE(dead->closed_by_server());
  // A client that answers pings stays connected, even after several times the limit.
  const auto alive = connected();
  for (int i = 0; i < 4; ++i) {
    const auto ping = alive->receive_frame(/*pong=*/false);
    ASSERT_TRUE(ping);
    ASSERT_EQ(ping->opcode, 9);
    alive->send_frame(ping->payload, 10);
  }
  alive->send_frame("hello");
  std::optional<Frame> frame = alive->receive_frame();
  ASSERT_TRUE(frame);
  EXPECT_EQ(frame->payload, "hello");
}

TEST_F(ServerTest, EndsWithOpenConnectionsAndDestroysTheirHandlers) {
  start();
  const auto one = connected();
  RawClient silent(server_->port());
  ASSERT_TRUE(eventually([&] { return std::lock_guard(mutex_), channels_.size() == 1; }));
  server_.reset();
  EXPECT_TRUE(channels_.empty());
  EXPECT_TRUE(one->closed_by_server());
}

TEST_F(ServerTest, DoesNotStartOutsideOfLoopbackWithoutTls) {
  Settings settings{.address = "0.0.0.0"};
  const auto error = [&] { return trainyard::testing::error_of([&] { Server server(settings); }).second; };
  EXPECT_EQ(error(),
            "the address 0.0.0.0 can be reached from other machines, which is allowed only with TLS: give a "
            "certificate and its key, or use 127.0.0.1");
  settings = {.address = "example.org"};
  EXPECT_EQ(error(), "the address 'example.org' is not an IP address, such as 127.0.0.1 or ::1");
  settings = {.certificate = "/nowhere/cert.pem"};
  EXPECT_EQ(error(), "a certificate and its key are needed together; only the certificate was given");
  settings.key = "/nowhere/key.pem";
  EXPECT_EQ(error(), "there is no file /nowhere/cert.pem");
  start();
  settings = {.port = server_->port()};
  EXPECT_EQ(error(), "cannot listen at 127.0.0.1:" + std::to_string(server_->port()) + ": Address already in use");
}

TEST_F(ServerTest, SpeaksTlsWithACertificate) {
  const trainyard::testing::TemporaryFolder folder;
  const std::string make =
      "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext "
      "subjectAltName=IP:127.0.0.1 -keyout " +
      folder.path("key.pem") + " -out " + folder.path("cert.pem") + " 2>/dev/null";
  if (std::system(make.c_str()) != 0) GTEST_SKIP() << "there is no openssl command";
  start(Settings{.certificate = folder.path("cert.pem"), .key = folder.path("key.pem")});
  const std::string url = server_->url(Role::kControl);
  EXPECT_THAT(url, StartsWith("https://127.0.0.1:"));
  RawClient plain(server_->port());
  EXPECT_THAT(plain.get("/", cookie()), Not(HasSubstr("page")));
  const std::string ask = "printf 'GET / HTTP/1.1\\r\\nHost: 127.0.0.1:" + std::to_string(server_->port()) +
                          "\\r\\nConnection: close\\r\\nAuthorization: Bearer " + token() +
                          "\\r\\n\\r\\n' | timeout 20 openssl s_client -quiet -verify_return_error -CAfile " +
                          folder.path("cert.pem") + " -connect 127.0.0.1:" + std::to_string(server_->port()) + " > " +
                          folder.path("answer") + " 2>/dev/null";
  [[maybe_unused]] const int code = std::system(ask.c_str());
  std::ifstream file(folder.path("answer"));
  const std::string answer(std::istreambuf_iterator<char>(file), {});
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 200"));
  EXPECT_THAT(answer, HasSubstr("<p>page"));
}

}  // namespace
}  // namespace trainyard::web
