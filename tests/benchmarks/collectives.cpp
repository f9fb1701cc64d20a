// SPDX-License-Identifier: Apache-2.0
// Measures how fast ranks reduce, and how fast this machine copies.
//
//    trainyard_benchmark_collectives <collective> <ranks> <bytes> <rounds> [registered|own] [<rank> <folder>]
//
// With a rank and a folder for notes, the program is only this rank, so that each can run in a network namespace of its
// own.
//
// Prints JSON objects: {"name": ..., "median_ns": ...}. Every rank is a process with one thread. What is timed are
// all_reduces of float32 at rank 0, one after the other. Small ones are timed kTogether at a time, because reading the
// clock would disturb them.

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "collectives/collective.h"
#include "core/plugin/loader.h"
#include "core/testing/temporary_folder.h"

namespace trainyard {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kSmallBytes = 1 << 20;
constexpr int kTogether = 20;

struct Options {
  std::string collective;
  std::uint32_t ranks = 2;
  std::size_t bytes = 0;
  int rounds = 0;
  bool registered = true;
};

double nanoseconds(Clock::duration time) { return std::chrono::duration<double, std::nano>(time).count(); }

void report(const std::string& name, std::vector<double> samples) {
  std::ranges::sort(samples);
  std::printf("{\"name\": \"%s\", \"median_ns\": %.0f, \"best_ns\": %.0f}\n", name.c_str(), samples[samples.size() / 2],
              samples.front());
  std::fflush(stdout);
}

std::unique_ptr<Collective> join_group(const Options& options, std::uint32_t rank, core::PluginLoader& plugins,
                                       core::Rendezvous& notes) {
  CollectiveContext context;
  context.where = "benchmark";
  context.rank = rank;
  context.world_size = options.ranks;
  context.plugins = &plugins;
  context.rendezvous = &notes;
  context.name = "world";
  for (std::uint32_t i = 0; i < options.ranks; ++i) context.ranks.push_back(i);
  const char* parameters = std::getenv("TRAINYARD_BENCHMARK_PARAMETERS");
  return make_collective({options.collective, parameters == nullptr ? "{}" : parameters}, context);
}

void run_rank(const Options& options, std::uint32_t rank, const std::string& folder) {
  core::PluginLoader plugins(core::PluginLoader::default_directories());
  const auto notes = core::make_folder_rendezvous(folder);
  const auto group = join_group(options, rank, plugins, *notes);
  const Buffer memory = options.registered ? group->allocate(options.bytes) : Buffer::heap(options.bytes);
  std::fill_n(reinterpret_cast<float*>(memory.data()), options.bytes / sizeof(float), 1e-30f);
  const Elements data{memory.data(), DType::kFloat32, options.bytes / sizeof(float)};
  std::vector<double> samples;
  const int together = options.bytes < kSmallBytes ? kTogether : 1;
  const int warm_up = options.rounds / 10 + 1;
  for (int i = 0; i < warm_up + options.rounds; ++i) {
    group->barrier().wait();
    const auto start = Clock::now();
    for (int j = 0; j < together; ++j) group->all_reduce(data, ReduceOp::kMean).wait();
    if (i >= warm_up) samples.push_back(nanoseconds(Clock::now() - start) / together);
  }
  group->barrier().wait();
  if (rank == 0) report("all_reduce", std::move(samples));
}

/// Measures how fast one core copies one half of a block to the other half. The block is far larger than the caches.
void measure_copy() {
  constexpr std::size_t kBytes = 100 << 20;
  const Buffer from = Buffer::heap(kBytes), to = Buffer::heap(kBytes);
  std::memset(from.data(), 1, kBytes);
  std::memset(to.data(), 2, kBytes);
  std::vector<double> samples;
  for (int i = 0; i < 10; ++i) {
    const auto start = Clock::now();
    std::memcpy(to.data(), from.data(), kBytes);
    samples.push_back(nanoseconds(Clock::now() - start));
  }
  report("copy_100MiB", std::move(samples));
}

int run_alone(const Options& options, std::uint32_t rank, const std::string& folder) {
  try {
    run_rank(options, rank, folder);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}

int run(const Options& options) {
  const testing::TemporaryFolder folder;
  std::vector<pid_t> children;
  for (std::uint32_t rank = 0; rank < options.ranks; ++rank) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      ::_exit(run_alone(options, rank, folder.path("notes")));
    }
    children.push_back(child);
  }
  int failed = 0;
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    failed += status != 0 ? 1 : 0;
  }
  if (failed == 0) measure_copy();
  return failed;
}

}  // namespace
}  // namespace trainyard

int main(int count, char** arguments) {
  if (count < 5 || count == 7) {
    std::fprintf(stderr, "usage: %s <collective> <ranks> <bytes> <rounds> [registered|own] [<rank> <folder>]\n",
                 arguments[0]);
    return 2;
  }
  trainyard::Options options{.collective = arguments[1],
                             .ranks = static_cast<std::uint32_t>(std::atoi(arguments[2])),
                             .bytes = static_cast<std::size_t>(std::atoll(arguments[3])),
                             .rounds = std::atoi(arguments[4]),
                             .registered = count < 6 || std::string(arguments[5]) == "registered"};
  if (count < 8) return trainyard::run(options);
  return trainyard::run_alone(options, static_cast<std::uint32_t>(std::atoi(arguments[6])), arguments[7]);
}
