// SPDX-License-Identifier: Apache-2.0
// Tests an accelerator host that computes on the test device while a snapshot of its arena is copied.
#include <gtest/gtest.h>

#include "components/accelerator_host/host_fixture.h"

namespace trainyard::testing {
namespace {

/// The link needs about a second for the parameters, and a millisecond for a batch.
constexpr const char* kSlowLink = R"(, "model": {"plugin": "mlp", "hidden": [5000]}
    , "accelerator": {"plugin": "test_device", "link_gb_per_s": 0.0002})";

class SnapshotHostTest : public AcceleratorHostTest {
 protected:
  SnapshotHostTest() {
    rig_.world().plugin_directories.insert(rig_.world().plugin_directories.begin(), TRAINYARD_TEST_PLUGINS);
  }

  /// Starts like an optimizer in the same process, so that the arena stays on the device.
  void start_on_device() {
    start(kSlowLink);
    update_ = arena_.device_arena->make_update({devices::Formula::kSgd, {}, {}});
    send("parameters", Parameters{.step = 0});
    send("/run_state", RunState{});
  }

  std::size_t snapshots() const { return rig_.received<Snapshot>("snapshot").size(); }

  std::unique_ptr<devices::Update> update_;
};

TEST_F(SnapshotHostTest, ComputesTheNextGradientsWhileTheSnapshotIsCopied) {
  start_on_device();
  send("/orders", Order{.id = 1, .kind = OrderKind::kCheckpoint, .reason = "interval"});
  EXPECT_EQ(done(), 1u);
  EXPECT_EQ(snapshots(), 0u) << "the copy takes a second";
  send("/orders", train(2, 1));
  send("batches", batch(2, 0));
  EXPECT_EQ(snapshots(), 0u) << "the step has been computed in less time";
  EXPECT_EQ(gradients(), 0u);
  rig_.run_until([this] { return snapshots() == 1; });
  EXPECT_EQ(gradients(), 0u) << "the checkpoint writer still reads the mirrors";
  send("snapshot_taken", SnapshotTaken{.order = 1});
  EXPECT_EQ(gradients(), 1u);
}

TEST_F(SnapshotHostTest, TheNextCheckpointWaitsUntilTheMirrorsAreFree) {
  start_on_device();
  send("/orders", Order{.id = 1, .kind = OrderKind::kCheckpoint, .reason = "interval"});
  send("/orders", Order{.id = 2, .kind = OrderKind::kCheckpoint, .reason = "last"});
  rig_.run_until([this] { return snapshots() == 1; });
  EXPECT_EQ(done(), 1u);
  send("snapshot_taken", SnapshotTaken{.order = 1});
  EXPECT_EQ(done(), 2u);
  rig_.run_until([this] { return snapshots() == 2; });
}

}  // namespace
}  // namespace trainyard::testing
