// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "checkpoints/checkpoint_reader.h"
#include "components/checkpoint_writer/checkpoint_store.h"
#include "components/checkpoint_writer/resume.h"
#include "components/checkpoint_writer/temporary_checkpoint.h"
#include "components/checkpoint_writer/test_files.h"

// Tests that every checkpoint that has its final name is complete, no matter when the process that writes it is killed.

namespace trainyard {
namespace {

namespace fs = std::filesystem;

CheckpointStore make_store(const std::string& directory) {
  return CheckpointStore({.directory = directory, .monitor = "loss", .rule = {.last = 2, .best = 1}});
}

/// Writes checkpoints until it is killed.
[[noreturn]] void write_for_ever(const std::string& directory, std::uint64_t first_step) {
  CheckpointStore store = make_store(directory);
  store.adopt(first_step);
  const OptimizerState state = testing::small_state();
  const StateLayout layout = make_state_layout(testing::small_arena(), &state);
  StateCopy copy;
  for (std::uint64_t step = first_step;; ++step) {
    copy.take(layout, testing::snapshot_at(step, 1.0 / static_cast<double>(step)));
    store.write(copy);
  }
}

/// Kills a child when its directory has changed `changes` times, so that it dies between two arbitrary system calls.
void kill_after(pid_t child, const std::string& directory, int changes) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  fs::file_time_type last{};
  while (changes > 0 && std::chrono::steady_clock::now() < deadline) {
    std::error_code ignored;
    const auto now = fs::last_write_time(directory, ignored);
    if (now != last) --changes;
    last = now;
    std::this_thread::yield();
  }
  EXPECT_EQ(changes, 0) << "the child wrote nothing";
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
}

TEST(CrashTest, EveryNamedCheckpointIsWholeAfterAKillAtAnyMoment) {
  testing::TemporaryDirectory directory;
  std::mt19937 random(2);
  std::uint64_t first_step = 1;
  for (int round = 0; round < 8; ++round) {
    const pid_t child = ::fork();
    if (child == 0) write_for_ever(directory.path(), first_step);
    kill_after(child, directory.path(), 5 + static_cast<int>(random() % 12));
    const auto found = checkpoints::list_checkpoints(directory.path());
    for (const std::string& path : found)
      EXPECT_EQ(checkpoints::verify_checkpoint(path), std::vector<std::string>{}) << path;
    if (!found.empty()) first_step = *checkpoints::step_of_name(fs::path(found.back()).filename().string()) + 1;
  }
  EXPECT_GT(first_step, 1u);
  sweep_temporaries(directory.path());
  for (const auto& entry : fs::directory_iterator(directory.path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".tmp-")) << entry.path();
  }
}

TEST(CrashTest, ARunResumesAfterAKill) {
  testing::TemporaryDirectory directory;
  const pid_t child = ::fork();
  if (child == 0) write_for_ever(directory.path(), 1);
  kill_after(child, directory.path(), 20);
  const ArenaInfo arena = testing::small_arena(0);
  const OptimizerState state = testing::small_state(0);
  const StateLayout layout = make_state_layout(arena, &state);
  std::vector<std::string> warnings;
  const Resumed resumed = resume_from(resume_candidates("last", directory.path()), layout,
                                      [&](const std::string& text) { warnings.push_back(text); });
  EXPECT_GE(resumed.run.step, 1u);
  EXPECT_EQ(arena.blocks[1].data.as<float>()[0], 1.0f);
  EXPECT_TRUE(warnings.empty()) << warnings[0];
}

}  // namespace
}  // namespace trainyard
