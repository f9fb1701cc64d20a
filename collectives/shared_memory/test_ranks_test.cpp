// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "collectives/shared_memory/test_ranks.h"

namespace trainyard::testing {
namespace {

std::string run_rank(std::uint32_t rank, std::uint32_t count, core::Rendezvous& notes, const RankBody& body,
                     const RankOptions& options) {
  CollectiveContext context;
  context.where = "test";
  context.parameters = options.parameters;
  context.rank = rank;
  context.world_size = count;
  context.rendezvous = &notes;
  context.name = "world";
  context.timeout = options.timeout;
  for (std::uint32_t i = 0; i < count; ++i) context.ranks.push_back(i);
  try {
    shared_memory::SharedMemory collective(context);
    collective.connect();
    return body(collective);
  } catch (const std::exception& error) {
    return error.what();
  }
}

}  // namespace

std::vector<std::string> on_threads(std::uint32_t count, const RankBody& body, const RankOptions& options) {
  const auto notes = core::make_local_rendezvous();
  std::vector<std::string> said(count);
  std::vector<std::jthread> threads;
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    threads.emplace_back([&, rank] { said[rank] = run_rank(rank, count, *notes, body, options); });
  }
  threads.clear();
  return said;
}

RankProcesses::RankProcesses(std::uint32_t count, const RankBody& body, const RankOptions& options) {
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    const pid_t pid = ::fork();
    if (pid != 0) {
      pids_.push_back(pid);
      continue;
    }
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    const auto notes = core::make_folder_rendezvous(folder_.path("notes"));
    const std::string text = run_rank(rank, count, *notes, body, options);
    std::ofstream(folder_.path(fmt::format("said.{}", rank))) << text << std::flush;
    ::_exit(0);
  }
}

RankProcesses::~RankProcesses() {
  for (const pid_t pid : pids_) {
    if (pid <= 0) continue;
    ::kill(pid, SIGKILL);
    ::waitpid(pid, nullptr, 0);
  }
}

bool wait_for_note(const std::string& path) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  while (!std::filesystem::exists(path)) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

std::string RankProcesses::said(std::uint32_t rank) {
  ::waitpid(pids_[rank], nullptr, 0);
  pids_[rank] = 0;
  std::ostringstream text;
  text << std::ifstream(folder_.path(fmt::format("said.{}", rank))).rdbuf();
  return text.str();
}

}  // namespace trainyard::testing
