// SPDX-License-Identifier: Apache-2.0
#include "components/checkpoint_writer/checkpoint_writer.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "checkpoints/checkpoint_reader.h"
#include "checkpoints/durable_file.h"
#include "components/checkpoint_writer/rank_parts.h"
#include "components/checkpoint_writer/resume.h"
#include "components/checkpoint_writer/temporary_checkpoint.h"
#include "core/loop/event_loop.h"
#include "core/spans/span_scope.h"
#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard {

// A snapshot goes through three stages: it is copied on the component's event loop and answered with SnapshotTaken,
// written on the writer's thread, and reported on the event loop with CheckpointDone.

namespace {

/// Returns the directory of the checkpoints: `given`, the value of the parameter, or the default if it is empty.
std::string directory_or_default(const std::string& given, const std::string& output_directory) {
  if (!given.empty()) return given;
  return (output_directory.empty() ? "." : output_directory) + "/checkpoints";
}

}  // namespace

CheckpointWriter::CheckpointWriter(ComponentContext& context) : Component(context, kTraits) {}

void CheckpointWriter::on_configure() {
  const std::string directory = directory_or_default(*directory_, context().output_directory);
  store_.emplace(CheckpointStore::Options{
      .directory = directory,
      .monitor = *monitor_,
      .rule = {.last = static_cast<std::size_t>(*keep_last_),
               .best = static_cast<std::size_t>(*keep_best_),
               .smaller_is_better = *monitor_mode_ == Better::kSmaller},
      .save_optimizer = *save_optimizer_,
      .ranks = context().world_size,
  });
  prepare_directory();
  // Called on the writer's thread. The results are handled on the component's event loop.
  const auto notify = [this, alive = std::weak_ptr<const bool>(alive_)] {
    loop().post([this, alive] {
      if (!alive.expired()) guarded([this] { report_finished(); });
    });
  };
  writer_activity_.emplace(loop().activity(), *this, 1);
  writer_ = std::make_unique<BackgroundWriter>(*store_, notify, &*writer_activity_);
}

/// Problems with the directory are reported now, rather than after hours of training.
void CheckpointWriter::prepare_directory() const {
  const std::string directory = directory_or_default(*directory_, context().output_directory);
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error) throw Error(Code::kIo, "cannot create the directory {}: {}", directory, error.message());
  if (::access(directory.c_str(), W_OK) != 0) checkpoints::throw_errno("write into", directory);
  if (const int swept = sweep_temporaries(directory)) {
    log().info("removed {} unfinished checkpoints that a killed run left in {}", swept, directory);
  }
  const std::size_t found = checkpoints::list_checkpoints(directory).size();
  if (found != 0 && resume_->empty() && *existing_ == Existing::kError) {
    throw Error(Code::kInvalidArgument,
                "{} holds {} checkpoints of another run; choose another 'directory', set resume = 'last' to go on with "
                "that run, or existing = 'keep' or 'replace'",
                directory, found);
  }
  // Checks only that there is a checkpoint. Whether it is complete is checked later, in restore().
  if (!resume_->empty()) resume_candidates(*resume_, directory);  // Throws if there is none.
}

void CheckpointWriter::on_arena(const std::shared_ptr<const ArenaInfo>& arena) {
  memory_.add(arena);
  every_arena_.arrived(arena->rank);
}

void CheckpointWriter::on_optimizer_state(const std::shared_ptr<const OptimizerState>& state) {
  memory_.add(state);
  every_state_.arrived(state->rank);
}

void CheckpointWriter::on_remote_memory(const RemoteMemory& memory) {
  RemoteAnnouncement announcement = announcement_of(memory);
  on_arena(std::move(announcement.arena));
  if (announcement.optimizer) on_optimizer_state(std::move(announcement.optimizer));
}

void CheckpointWriter::begin_run() {
  layout_ = memory_.layout();
  const auto [arena, state] = memory_.first();
  if (state != nullptr) {
    store_->describe(arena->model, state->rule, state->hyperparameters);
  } else {
    store_->describe(arena->model, "", {});
  }
  if (*other_hosts_ == OtherHosts::kSend) return begin_from_checkpoint();
  const std::string directory = directory_or_default(*directory_, context().output_directory);
  remote_.probe(directory, [this](const std::string& problem) {
    if (!problem.empty()) throw Error(Code::kInvalidArgument, "{}", problem);
    begin_from_checkpoint();
  });
}

void CheckpointWriter::begin_from_checkpoint() {
  // The parts of ranks on other hosts are first read into memory on this host, and then sent to them.
  const StateLayout here = resume_->empty() ? StateLayout{} : with_memory_here(*layout_);
  const std::shared_ptr<Resumed> resumed = restore(here);
  // The store may be used on this thread, because the writer's thread has nothing to do yet.
  if (*existing_ == Existing::kReplace || continues_here(start_.path)) store_->adopt(start_.step);
  if (!resumed) return start_run();
  remote_.restore(*layout_, here, resumed->filled, [this, resumed] { give_states_back(*resumed); });
}

void CheckpointWriter::give_states_back(Resumed& resumed) {
  const std::uint32_t ranks = resumed.run.ranks;
  if (ranks != 0 && ranks != context().world_size) {
    log().warn(
        "{} was made by {} ranks, this run has {}: what a rank has for itself, such as its random numbers, goes to the "
        "rank of the same number, and begins anew where there was none",
        resumed.path, ranks, context().world_size);
  }
  RestoredStates states{
      .path = resumed.path, .step = resumed.run.step, .ranks = ranks, .states = std::move(resumed.run.states)};
  components_.give_back(std::move(states), [this](const std::set<std::string>& left) {
    for (const std::string& owner : left) {
      log().warn("{} has the state of '{}', which nothing in this run takes back", start_.path, owner);
    }
    start_run();
  });
}

// Called when the memory of all ranks and the state of all components have been restored, because training begins when
// the other components receive this message.
void CheckpointWriter::start_run() { run_state_.send(std::move(start_)); }

/// Returns true if the run resumes from a checkpoint in its own directory. The checkpoints there then count as its own.
bool CheckpointWriter::continues_here(const std::string& path) const {
  const std::string directory = directory_or_default(*directory_, context().output_directory);
  std::error_code error;
  return !path.empty() && std::filesystem::equivalent(std::filesystem::path(path).parent_path(), directory, error);
}

// This blocks the component's event loop, but no component can begin before the run is restored anyway.
std::shared_ptr<Resumed> CheckpointWriter::restore(const StateLayout& here) {
  if (resume_->empty()) return nullptr;
  const std::string directory = directory_or_default(*directory_, context().output_directory);
  const std::vector<std::string> candidates = resume_candidates(*resume_, directory);
  if (candidates.empty()) {
    log().info("there is no checkpoint in {} yet, so the run starts from the beginning", directory);
    return nullptr;
  }
  const auto warn = [this](const std::string& text) { log().warn("{}", text); };
  Resumed resumed = resume_from(candidates, here, warn);
  log().info("resumed from {} at step {}", resumed.path, resumed.run.step);
  start_ = {.resumed = true,
            .path = resumed.path,
            .step = resumed.run.step,
            .epoch = resumed.run.epoch,
            .samples = resumed.run.samples,
            .cursor = resumed.run.cursor,
            .cursor_batches = resumed.run.cursor_batches,
            .skipped_steps = resumed.run.skipped_steps,
            .metrics = resumed.run.metrics,
            .settings = resumed.run.settings};
  return std::make_shared<Resumed>(std::move(resumed));
}

// When the last rank has requested the snapshot, it is copied as soon as there is memory for a copy. Snapshots are
// copied in the order in which they were requested.
void CheckpointWriter::on_snapshot(const std::shared_ptr<const Snapshot>& snapshot) {
  if (!layout_)
    throw Error(Code::kInternal, "a snapshot of step {} was asked for before {} came", snapshot->step,
                begin_.missing());
  std::optional<Snapshot> whole = requests_.add(snapshot);
  if (!whole) return;
  copies_.add(std::move(*whole));
  serve_waiting();
}

// While a snapshot waits for memory, SnapshotTaken is not sent, so the accelerator hosts wait with their next update.
void CheckpointWriter::serve_waiting() {
  while (copies_.can_begin()) begin_copy();
}

void CheckpointWriter::begin_copy() {
  const auto start = std::chrono::steady_clock::now();
  // Training waits only for this copy of all blocks of memory.
  std::optional<core::SpanScope> span(std::in_place, SpanKind::kSnapshot, "copy");
  StateCopy& copy = copies_.begin(*layout_);
  const Snapshot& snapshot = copy.snapshot();
  span.reset();
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  log().debug("copied {} bytes of step {} in {:.2f} ms", layout_->bytes(), snapshot.step, took.count());
  const bool write = *other_hosts_ == OtherHosts::kWrite;
  remote_.copy(copy, write ? RemoteRanks::Then::kKeep : RemoteRanks::Then::kSend,
               [this, order = snapshot.order, step = snapshot.step](const std::string& failure) {
                 if (!failure.empty()) return finish_copy({}, failure);
                 components_.collect(order, step, [this](std::vector<SavedState> states, const std::string& error) {
                   finish_copy(std::move(states), error);
                 });
               });
}

// The ranks continue to train now, even if a component has not sent its state; the checkpoint is then not written.
void CheckpointWriter::finish_copy(std::vector<SavedState> states, const std::string& error) {
  StateCopy& copy = copies_.open();
  copy.add(std::move(states));
  snapshot_taken_.send(SnapshotTaken{.order = copy.snapshot().order, .step = copy.snapshot().step});
  if (error.empty()) return gather();
  remote_.give_up(error);
  write_copy(error);
}

// The ranks have gone on, so a checkpoint that cannot be begun is only reported.
void CheckpointWriter::gather() {
  const auto done = [this](const std::string& failure) { write_copy(failure); };
  if (*other_hosts_ == OtherHosts::kSend) return remote_.receive(done);
  StateCopy& copy = copies_.open();
  if (!layout_->has_remote_pieces()) return done("");
  try {
    std::unique_ptr<SharedCheckpoint> shared = store_->share(copy);
    if (shared->ranks().empty()) return done("");
    copy.share(std::move(shared));
  } catch (const Error& problem) {
    return done(problem.what());
  }
  remote_.write(*copy.shared(), done);
}

void CheckpointWriter::write_copy(const std::string& error) {
  std::unique_ptr<StateCopy> copy = copies_.finish();
  const std::uint64_t order = copy->snapshot().order, step = copy->snapshot().step;
  if (error.empty()) {
    writer_->submit(std::move(copy));
  } else {
    log().error("checkpoint of step {} failed: {}", step, error);
    checkpoints_.send(CheckpointDone{.order = order, .step = step, .path = "", .error = error});
    copies_.give_back(std::move(copy));
  }
  serve_waiting();
}

// Checkpoints are written in the order of the snapshots, so CheckpointDone is sent in this order, too.
void CheckpointWriter::report_finished() {
  if (!writer_) return;
  for (BackgroundWriter::Finished& finished : writer_->take_finished()) {
    report(finished);
    copies_.give_back(std::move(finished.state));
  }
  serve_waiting();
}

// CheckpointDone is sent for failures, too, because the strategy manager waits for an answer to every order to save a
// checkpoint.
void CheckpointWriter::report(const BackgroundWriter::Finished& finished) {
  const Snapshot& snapshot = finished.state->snapshot();
  core::add_span({.kind = SpanKind::kWrite,
                  .name = "write",
                  .begin_ns = finished.began_ns,
                  .end_ns = finished.ended_ns,
                  .step = snapshot.step,
                  .own_thread = 1});
  for (const std::string& warning : finished.written.warnings) log().warn("{}", warning);
  if (!finished.error.empty()) log().error("checkpoint of step {} failed: {}", snapshot.step, finished.error);
  log().debug("wrote {} bytes of step {} in {:.3f} s", finished.written.bytes, snapshot.step, finished.seconds);
  checkpoints_.send(CheckpointDone{.order = snapshot.order,
                                   .step = snapshot.step,
                                   .path = finished.written.path,
                                   .bytes = finished.written.bytes,
                                   .error = finished.error});
  check_monitor(snapshot.metrics);
}

// Throws if `monitor` names no metric of the validation, which ends the run. Called only after the checkpoint has been
// written, so that the run can be resumed with a corrected parameter.
void CheckpointWriter::check_monitor(const std::vector<Scalar>& metrics) const {
  if (*keep_best_ == 0 || metrics.empty() || std::ranges::count(metrics, *monitor_, &Scalar::name) != 0) return;
  std::vector<std::string> names;
  for (const Scalar& metric : metrics) names.push_back(metric.name);
  throw Error(Code::kNotFound, "monitor = '{}' names no metric of the validation{}", *monitor_,
              suggestion(*monitor_, names));
}

/// Blocks until all requested checkpoints have been written, or have failed, and are reported.
void CheckpointWriter::on_deactivate() {
  if (!writer_) return;
  do {
    writer_->wait_until_idle();
    report_finished();
    // At this point, components and relays no longer answer.
    components_.give_up("the run ended before every component had given its state");
    remote_.give_up("the run ended before other hosts had sent their state");
  } while (!copies_.all_free());
}

void CheckpointWriter::on_finalize() {
  on_deactivate();
  writer_.reset();
}

}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::CheckpointWriter, "checkpoint_writer",
                    "Saves weights, optimizer state and run state without holding training up, and restores them")
