// SPDX-License-Identifier: Apache-2.0
#include "collectives/findings.h"

#include <gtest/gtest.h>

namespace trainyard::collectives {
namespace {

using namespace std::chrono_literals;

const Findings kFindings("even", {0, 2, 4}, 1);

QueuedOperation queued(OperationKind kind, Stage stage, std::uint32_t member = 0) {
  QueuedOperation made;
  made.operation.request = {.kind = kind, .dtype = DType::kFloat32, .member = member, .count = 3};
  made.operation.order = 7;
  made.stage = stage;
  return made;
}

TEST(FindingsTest, MessagesAreNamedByBothEnds) {
  EXPECT_EQ(kFindings.name(queued(OperationKind::kSend, Stage::kQueued, 2).operation),
            "message 7 from rank 2 to rank 4 in group 'even', float32[3]");
  EXPECT_EQ(kFindings.name(queued(OperationKind::kRecv, Stage::kQueued, 2).operation),
            "message 7 from rank 4 to rank 2 in group 'even', float32[3]");
}

TEST(FindingsTest, SilenceIsToldByWhetherTheMemberHadCome) {
  EXPECT_EQ(kFindings.silent({2}, queued(OperationKind::kAllReduce, Stage::kAnnounced), 1500ms).text,
            "rank 4 did not come to operation 7 of group 'even', all_reduce(sum) of float32[3] within 1.5 s");
  EXPECT_EQ(kFindings.silent({0, 2}, queued(OperationKind::kAllReduce, Stage::kAgreed), 60s).text,
            "ranks 0, 4 have been silent for 60 s in operation 7 of group 'even', all_reduce(sum) of float32[3]");
}

TEST(FindingsTest, WhoIsGoneAndWhoLeftReadDifferently) {
  const Operation operation = queued(OperationKind::kBarrier, Stage::kAnnounced).operation;
  EXPECT_EQ(kFindings.gone({0}, Presence::kLeft, operation).text,
            "rank 0 left the group before operation 7 of group 'even', barrier was finished");
  EXPECT_EQ(
      kFindings.gone({0, 2}, Presence::kLost, operation).text,
      "ranks 0, 4 are gone (their processes ended or were killed) before operation 7 of group 'even', barrier was "
      "finished");
}

TEST(FindingsTest, AMemberThatGivesUpIsNamedWithItsReason) {
  const Failure failure = kFindings.aborted("no {memory}");
  EXPECT_EQ(failure.code, Code::kPeerLost);
  EXPECT_EQ(failure.text, "rank 2 gave up group 'even': no {memory}");
}

TEST(FindingsTest, ABrokenLibraryIsTheFaultOfWhoeverDoesNotAnswer) {
  EXPECT_EQ(kFindings.broken({}, "reset").text, "reset");
  EXPECT_EQ(kFindings.broken({}, "reset").code, Code::kIo);
  EXPECT_EQ(kFindings.broken({2}, "reset").text, "rank 4 does not answer, and then: reset");
}

}  // namespace
}  // namespace trainyard::collectives
