// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "components/checkpoint_writer/announced_memory.h"
#include "components/checkpoint_writer/background_writer.h"
#include "components/checkpoint_writer/checkpoint_store.h"
#include "components/checkpoint_writer/component_states.h"
#include "components/checkpoint_writer/remote_ranks.h"
#include "components/checkpoint_writer/resume.h"
#include "components/checkpoint_writer/snapshot_requests.h"
#include "components/checkpoint_writer/state_copies.h"
#include "components/checkpoint_writer/state_layout.h"
#include "core/component/component.h"
#include "core/component/gate.h"
#include "messages/arena.h"
#include "messages/metrics.h"
#include "messages/run_state.h"

namespace trainyard {

/// What to do with checkpoints of other runs that are in the directory.
enum class Existing : std::uint8_t { kKeep, kError, kReplace };
constexpr auto words_of(Existing) { return words("way with existing checkpoints", "keep", "error", "replace"); }

/// What the hosts that do not have the checkpoint writer do with the state of their ranks.
enum class OtherHosts : std::uint8_t { kSend, kWrite };
constexpr auto words_of(OtherHosts) { return words("way to save the state of other hosts", "send", "write"); }

/// The component that saves and restores the state of the run (docs/checkpoint_format.md).
///
/// The writer answers a Snapshot with SnapshotTaken when it has copied the arena. A separate thread then hashes, writes
/// and syncs the copy. There are two copies, so a third snapshot in a row must wait until one of the copies is free. If
/// a checkpoint cannot be written, CheckpointDone reports this; the run continues, and earlier checkpoints are kept.
///
/// The component receives the messages of all ranks. It saves the tensors of the model and the optimizer in the form
/// that they have with a single rank, even if the ranks have divided them. So any number of ranks can continue from a
/// checkpoint. Other state is saved for every rank that has separate state (core/state/state.h).
///
/// The memory of ranks on other hosts is read and filled by their checkpoint relays (docs/decisions/0035). The writer
/// sends SnapshotTaken as soon as the relays have made copies, and writes the checkpoint when the copies have arrived.
/// If all hosts share the folder, the relays can write their copies themselves (docs/decisions/0037).
///
/// When a run resumes, every component that has state receives it before the run begins. RunState contains the position
/// at which the run begins.
///
/// The component deletes only checkpoints of its own run and, if the run resumes from its own directory, of the run
/// that it continues. With `existing` = replace it also deletes checkpoints of other runs.
class CheckpointWriter final : public Component {
 public:
  static inline const ComponentTraits kTraits{.thread = "io", .restartable = false};

  explicit CheckpointWriter(ComponentContext& context);

 protected:
  void on_configure() override;
  void on_deactivate() override;
  void on_finalize() override;

 private:
  // Checks the directory before training, removes leftovers, and checks whether there is a checkpoint to resume from.
  void prepare_directory() const;
  void on_arena(const std::shared_ptr<const ArenaInfo>& arena);
  void on_optimizer_state(const std::shared_ptr<const OptimizerState>& state);
  void on_remote_memory(const RemoteMemory& memory);
  // Called when every block of every rank is known. Makes the layout, and checks the folder if all hosts use it.
  void begin_run();
  // Restores, and announces where the run begins.
  void begin_from_checkpoint();
  // Reads the checkpoint that the run resumes into `here`. Returns null if the run does not resume.
  std::shared_ptr<Resumed> restore(const StateLayout& here);
  void give_states_back(Resumed& resumed);
  void start_run();
  bool continues_here(const std::string& path) const;
  void on_snapshot(const std::shared_ptr<const Snapshot>& snapshot);
  // Serves the waiting snapshots, as long as there are free copies.
  void serve_waiting();
  // Throws if the validation has measured some metrics, but not the metric that `monitor` names.
  void check_monitor(const std::vector<Scalar>& metrics) const;
  void begin_copy();
  // Called when every component and every relay has made its copy, or with the reason why one of them has not.
  void finish_copy(std::vector<SavedState> states, const std::string& error);
  // Lets the relays send their copies, or write them.
  void gather();
  // Called when the open copy is whole, or with the reason why it will never be.
  void write_copy(const std::string& error);
  // Runs on the component's event loop after the writer's thread has finished a checkpoint.
  void report_finished();
  void report(const BackgroundWriter::Finished& finished);

  Parameter<std::string> directory_{
      *this, "directory", "", "directory of the checkpoints; default: 'checkpoints' in the run's output directory"};
  Parameter<std::int64_t> keep_last_{*this, "keep_last", 2, "how many of the newest checkpoints are kept; 0 = all",
                                     at_least(0)};
  Parameter<std::int64_t> keep_best_{*this, "keep_best", 1, "how many of the best checkpoints are kept in addition",
                                     at_least(0)};
  Parameter<std::string> monitor_{*this, "monitor", "loss",
                                  "the validation metric that decides which checkpoint is best"};
  Parameter<Better> monitor_mode_{*this, "monitor_mode", Better::kSmaller,
                                  "whether a small (min) or a large (max) value is good"};
  Parameter<std::string> resume_{
      *this, "resume", "",
      "the checkpoint to resume from: last or best of the directory, or a path; auto = last if there is one; empty = "
      "start a new training"};
  Parameter<bool> save_optimizer_{*this, "save_optimizer", true, "save the optimizer's state too"};
  Parameter<Existing> existing_{*this, "existing", Existing::kKeep,
                                "checkpoints of other runs in the directory: leave them alone (keep), refuse to start "
                                "(error), or delete them as the rule says, like those of this run (replace)"};
  Parameter<OtherHosts> other_hosts_{
      *this, "other_hosts", OtherHosts::kSend,
      "in a run on several hosts: the other hosts send their state to this one (send), or write it into the directory, "
      "which all hosts must then share (write)"};

  Output<SnapshotTaken> snapshot_taken_{*this, "snapshot_taken",
                                        "the copy has been made, so the arena may change again"};
  Output<CheckpointDone> checkpoints_{*this, "checkpoints", "what was saved, or why not", {.topic = "/checkpoints"}};
  Output<RunState> run_state_{
      *this, "run_state", "where the run begins, sent once", {.topic = "/run_state", .latched = true}};

  Input<ArenaInfo> arena_{
      *this, "arena", "the model's memory", [this](const auto& m) { on_arena(m); }, {.every_rank = true}};
  Input<OptimizerState> optimizer_state_{*this,
                                         "optimizer_state",
                                         "the optimizer's memory",
                                         [this](const auto& m) { on_optimizer_state(m); },
                                         {.optional = true, .every_rank = true}};
  Input<Snapshot> snapshot_{
      *this, "snapshot", "when to save", [this](const auto& m) { on_snapshot(m); }, {.every_rank = true}};

  ComponentStates components_{*this};
  RemoteRanks remote_{*this, [this](const RemoteMemory& memory) { on_remote_memory(memory); }};

  Gate begin_{[this] { begin_run(); }};
  Gate::Need every_arena_{begin_, "arenas", [this]() -> std::size_t { return context().world_size; }};
  // Without an optimizer in the launch file, as in an evaluation, there is no state to wait for.
  Gate::Need every_state_{begin_, "optimizer states", [this]() -> std::size_t {
                            return optimizer_state_.connections() == 0 ? 0 : context().world_size;
                          }};

  AnnouncedMemory memory_{context().world_size};
  SnapshotRequests requests_{context().world_size};
  std::optional<StateLayout> layout_;  ///< Set when every block is known.
  RunState start_;                     ///< The position at which the run begins.
  StateCopies copies_;
  std::optional<CheckpointStore> store_;
  std::shared_ptr<const bool> alive_ = std::make_shared<bool>(true);  ///< Posted tasks may outlive the component.
  std::optional<core::OwnThreads> writer_activity_;
  std::unique_ptr<BackgroundWriter> writer_;  ///< Declared last, because its thread uses the members above.
};

}  // namespace trainyard
