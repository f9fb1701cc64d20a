// SPDX-License-Identifier: Apache-2.0
#include "collectives/mesh.h"

#include <gtest/gtest.h>

#include <cstring>

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

TEST(MeshTest, TellsAMemberThatLeftFromOneThatIsLost) {
  for (const bool says_goodbye : {true, false}) {
    expect_all_returned(run_threads(2, [&](std::uint32_t rank, core::Rendezvous& notes) {
      Mesh mesh(context_of(rank, notes), Sockets::kIpc);
      if (rank == 0 && says_goodbye) mesh.leave(30s);
      if (rank == 0) return "";
      const Presence wanted = says_goodbye ? Presence::kLeft : Presence::kLost;
      EXPECT_TRUE(receive_until(mesh, [&] { return mesh.presence(0) == wanted; }));
      return "";
    }));
  }
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
