// SPDX-License-Identifier: Apache-2.0
#include "collectives/mesh.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cstring>
#include <zmq.hpp>

#include "collectives/mesh_agreement.h"
#include "collectives/testing/ranks.h"

namespace trainyard::collectives {
namespace {

using namespace std::chrono_literals;
using trainyard::testing::run_threads;

CollectiveContext context_of(std::uint32_t rank, core::Rendezvous& notes) {
  CollectiveContext context;
  context.where = "the test";
  context.rank = rank;
  context.rendezvous = &notes;
  context.name = "world";
  context.ranks = {0, 1};
  context.timeout = 30s;
  return context;
}

template <class Condition>
bool receive_until(Mesh& mesh, const Condition& condition) {
  for (const auto until = std::chrono::steady_clock::now() + 30s; std::chrono::steady_clock::now() < until;) {
    mesh.receive();
    if (condition()) return true;
    mesh.sleep(100ms);
  }
  return false;
}

void expect_all_returned(const std::vector<trainyard::testing::RankEnd>& ends) {
  for (const auto& end : ends) EXPECT_TRUE(end.returned) << end.text;
}

TEST(MeshTest, KeepsMessagesUntilTheyAreAskedFor) {
  for (const Sockets sockets : {Sockets::kIpc, Sockets::kTcp}) {
    expect_all_returned(run_threads(2, [&](std::uint32_t rank, core::Rendezvous& notes) {
      Mesh mesh(context_of(rank, notes), sockets);
      const std::string text = "for number 9";
      if (rank == 0) {
        mesh.send(1, {Tag::kData, 0, 9}, {}, std::as_bytes(std::span(text)));
        mesh.send(1, {Tag::kData, 0, 8});
      } else {
        EXPECT_TRUE(receive_until(mesh, [&] { return mesh.has(0, {Tag::kData, 0, 8}); }));
        EXPECT_FALSE(mesh.has(0, {Tag::kData, 1, 9}));
        const auto parcel = mesh.take(0, {Tag::kData, 0, 9});
        EXPECT_TRUE(parcel.has_value());
        EXPECT_EQ(std::string(reinterpret_cast<const char*>(parcel->body.data()), parcel->body.size()), text);
        EXPECT_FALSE(mesh.take(0, {Tag::kData, 0, 9}).has_value()) << "it is forgotten";
      }
      mesh.leave(30s);
      return "";
    }));
  }
}

/// Checks, for each rank, that the other rank learns whether the rank has left or is lost.
void expect_told_apart(Sockets sockets) {
  for (const std::uint32_t leaver : {0u, 1u}) {
    for (const bool says_goodbye : {true, false}) {
      expect_all_returned(run_threads(2, [&](std::uint32_t rank, core::Rendezvous& notes) {
        Mesh mesh(context_of(rank, notes), sockets);
        if (rank == leaver && says_goodbye) mesh.leave(30s);
        if (rank == leaver) return "";
        const Presence wanted = says_goodbye ? Presence::kLeft : Presence::kLost;
        EXPECT_TRUE(receive_until(mesh, [&] { return mesh.presence(leaver) == wanted; }));
        return "";
      }));
    }
  }
}

TEST(MeshTest, TellsAMemberThatLeftFromOneThatIsLost) { expect_told_apart(Sockets::kIpc); }

TEST(MeshTest, TellsAMemberThatLeftFromOneThatIsLostOverTcp) { expect_told_apart(Sockets::kTcp); }

/// Connects to "tcp://127.0.0.1:PORT" as a stranger who closes the connection at once. Returns when the other end has
/// closed it, too.
void visit(const std::string& address) {
  const int stranger = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const timeval patience{.tv_sec = 30, .tv_usec = 0};
  ::setsockopt(stranger, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
  place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(stranger, reinterpret_cast<const sockaddr*>(&place), sizeof place), 0);
  ::shutdown(stranger, SHUT_WR);
  char greeting[64];
  ssize_t got = 0;
  do got = ::recv(stranger, greeting, sizeof greeting, 0);
  while (got > 0);
  EXPECT_EQ(got, 0) << std::strerror(errno);
  ::close(stranger);
}

/// A stranger with a ZeroMQ socket, but without the key. It connects again whenever it is refused. The constructor
/// returns after the first handshake.
class StrangerWithSocket {
 public:
  explicit StrangerWithSocket(const std::string& address) {
    socket_.set(zmq::sockopt::linger, 0);
    constexpr int kEvents = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                            ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
    EXPECT_EQ(zmq_socket_monitor(socket_.handle(), "inproc://stranger", kEvents), 0);
    zmq::socket_t monitor(zmq_, zmq::socket_type::pair);
    monitor.set(zmq::sockopt::rcvtimeo, 30'000);
    monitor.connect("inproc://stranger");
    socket_.connect(address);
    zmq::message_t event;
    EXPECT_TRUE(monitor.recv(event).has_value());
    zmq_socket_monitor(socket_.handle(), nullptr, 0);
  }

 private:
  zmq::context_t zmq_;
  zmq::socket_t socket_{zmq_, zmq::socket_type::pair};
};

TEST(MeshTest, StrangersAtAPortDisturbNobody) {
  expect_all_returned(run_threads(2, [](std::uint32_t rank, core::Rendezvous& notes) {
    std::string port;
    std::optional<StrangerWithSocket> stranger;
    if (rank == 1) {
      const std::string note = notes.get("world/mesh.0", 30s);
      port = note.substr(note.find("tcp://"));
      port.pop_back();  // The line feed after the only address.
      visit(port);
      stranger.emplace(port);
    }
    Mesh mesh(context_of(rank, notes), Sockets::kTcp);
    if (rank == 1) {
      visit(port);
      mesh.send(0, {Tag::kData, 0, 1});
    }
    EXPECT_TRUE(receive_until(mesh, [&] { return mesh.has(1 - rank, {Tag::kData, 0, 1}); }));
    EXPECT_NE(mesh.presence(1 - rank), Presence::kLost);
    if (rank == 0) mesh.send(1, {Tag::kData, 0, 1});
    mesh.leave(30s);
    return "";
  }));
}

TEST(MeshTest, AnswersAreThoseOfTheLastProbeAndNoSignsOfWork) {
  expect_all_returned(run_threads(2, [&](std::uint32_t rank, core::Rendezvous& notes) {
    MeshAgreement agreement(context_of(rank, notes), Sockets::kIpc);
    MeshAttendance attendance(agreement.mesh());
    if (rank == 1) {
      attendance.show({.waits = true, .waits_for = 0});
      notes.put("shown", "");
      EXPECT_TRUE(receive_until(agreement.mesh(), [&] { return agreement.told().has_value(); }));
    } else {
      notes.get("shown", 30s);
      EXPECT_FALSE(attendance.answer(1).has_value());
      const std::uint64_t signs = attendance.signs(1);
      attendance.probe();
      EXPECT_TRUE(receive_until(agreement.mesh(), [&] { return attendance.answer(1).has_value(); }));
      EXPECT_TRUE(attendance.answer(1)->waits);
      EXPECT_EQ(attendance.answer(1)->waits_for, 0u);
      EXPECT_EQ(attendance.signs(1), signs);
      agreement.tell({Code::kIo, "that is all"});
    }
    agreement.leave(false);
    return "";
  }));
}

}  // namespace
}  // namespace trainyard::collectives
