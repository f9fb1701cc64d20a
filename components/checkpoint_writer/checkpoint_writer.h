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

/// What to do if the directory already contains checkpoints of other runs: leave them alone (kKeep), refuse to start
/// unless the run resumes (kError), or treat them like checkpoints of this run, so that they can be deleted (kReplace).
enum class Existing : std::uint8_t { kKeep, kError, kReplace };
constexpr auto words_of(Existing) { return words("way with existing checkpoints", "keep", "error", "replace"); }

/// How the state of ranks on other hosts gets into a checkpoint: their hosts send it to the checkpoint writer (kSend),
/// or write it into the folder of the checkpoints themselves (kWrite).
enum class OtherHosts : std::uint8_t { kSend, kWrite };
constexpr auto words_of(OtherHosts) { return words("way to save the state of other hosts", "send", "write"); }

/// The component that saves checkpoints of the run, and restores the run from a checkpoint (docs/checkpoint_format.md).
///
/// The accelerator host of every rank requests a checkpoint with the message Snapshot. When all have done so, the
/// checkpoint writer copies the parameters and the optimizer's state, and then answers with SnapshotTaken, so that
/// training continues. A separate thread hashes, writes and syncs the copy. There is memory for two copies, so a third
/// snapshot must wait until one of them has been written. If a checkpoint cannot be written, CheckpointDone reports
/// this; the run continues, and earlier checkpoints are kept.
///
/// The component exists once and saves the state of all ranks. Even if the ranks have divided the tensors of the model
/// and the optimizer among themselves, it saves whole tensors, as a run with a single rank would. So any number of
/// ranks can continue from a checkpoint. Other state, such as that of random numbers, is saved separately for each rank
/// if the ranks have separate state (core/state/state.h).
///
/// The memory of ranks on other hosts is read and filled by checkpoint relays, which are components on those hosts
/// (docs/decisions/0035). The checkpoint writer sends SnapshotTaken as soon as the relays have made their copies, and
/// writes the checkpoint when the copies have arrived. If all hosts share the folder of the checkpoints, the relays can
/// write their copies into it themselves (docs/decisions/0037).
///
/// When a run resumes, every component that has state gets it back before the run begins. Then the checkpoint writer
/// sends RunState, with the position at which the run begins.
///
/// The checkpoint writer deletes only checkpoints of its own run and, if the run resumes from a checkpoint in
/// `directory`, those of the run that it continues. With `existing` = replace, it also deletes checkpoints of other
/// runs.
class CheckpointWriter final : public Component {
 public:
  static inline const ComponentTraits kTraits{.thread = "io", .restartable = false};

  explicit CheckpointWriter(ComponentContext& context);

 protected:
  void on_configure() override;
  void on_deactivate() override;
  void on_finalize() override;

 private:
  // Makes and checks the directory before training, removes the temporary files of killed runs, and throws if the run
  // must resume but there is no checkpoint.
  void prepare_directory() const;
  void on_arena(const std::shared_ptr<const ArenaInfo>& arena);
  void on_optimizer_state(const std::shared_ptr<const OptimizerState>& state);
  void on_remote_memory(const RemoteMemory& memory);
  // Called when all ranks have announced their memory. Makes the layout, and checks that all hosts share the folder of
  // the checkpoints if they are to write into it.
  void begin_run();
  // Restores the checkpoint if the run resumes, and announces where the run begins.
  void begin_from_checkpoint();
  // Reads the checkpoint from which the run resumes into the memory of `here`. Returns null if the run does not resume.
  std::shared_ptr<Resumed> restore(const StateLayout& here);
  void give_states_back(Resumed& resumed);
  void start_run();
  bool continues_here(const std::string& path) const;
  void on_snapshot(const std::shared_ptr<const Snapshot>& snapshot);
  // Begins to copy waiting snapshots, as long as there is memory for copies.
  void serve_waiting();
  // Throws kNotFound if the validation has measured metrics, but not the metric that the parameter `monitor` names.
  void check_monitor(const std::vector<Scalar>& metrics) const;
  void begin_copy();
  // Called with the states of all components when every component and every relay has made its copy. `error` is the
  // reason why one of them has not, or empty.
  void finish_copy(std::vector<SavedState> states, const std::string& error);
  // Lets the relays send their copies, or write them into the files of the checkpoint.
  void gather();
  // Called when the current copy is complete, or with the reason why it never will be.
  void write_copy(const std::string& error);
  // Called on the component's event loop after the writer's thread has finished a checkpoint.
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
  // If the run has no optimizer, as in an evaluation, there is no state to wait for.
  Gate::Need every_state_{begin_, "optimizer states", [this]() -> std::size_t {
                            return optimizer_state_.connections() == 0 ? 0 : context().world_size;
                          }};

  AnnouncedMemory memory_{context().world_size};
  SnapshotRequests requests_{context().world_size};
  std::optional<StateLayout> layout_;  ///< Set when all ranks have announced their memory.
  RunState start_;                     ///< The position at which the run begins.
  StateCopies copies_;
  std::optional<CheckpointStore> store_;
  /// Tasks that were posted to the event loop use this pointer to check whether the component still exists.
  std::shared_ptr<const bool> alive_ = std::make_shared<bool>(true);
  std::optional<core::OwnThreads> writer_activity_;
  std::unique_ptr<BackgroundWriter> writer_;  ///< Declared last, because its thread uses the members above.
};

}  // namespace trainyard
