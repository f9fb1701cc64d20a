// SPDX-License-Identifier: Apache-2.0
// Measures how long many agents need to join host 0, without any components: from the moment at which all of them begin
// to search until host 0 knows them all and each has its answer. All of them are in this process, on two threads: one
// is host 0, and the other all agents, so this thread does the work of many hosts and the times are upper bounds.
//
//     trainyard_benchmark_joining [AGENTS...]
#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <thread>
#include <vector>

#include "launch/hosts/host_door.h"
#include "launch/hosts/host_search.h"
#include "launch/hosts/join_check.h"

namespace trainyard::launch {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint16_t kPort = 29871;

HostSettings settings_of(const Plan& plan, const core::RunKeys& key, std::uint32_t host) {
  HostSettings settings{.self = describe_launch(plan, {}), .meeting = {"127.0.0.1", {kPort}}, .key = key};
  settings.self.host = host;
  settings.self.host_name = fmt::format("node{}", host);
  return settings;
}

/// Runs the agents of all other hosts. Each agent has its own ZeroMQ context, as it would in a separate process.
void join_all(const std::vector<HostSettings>& agents) {
  PollLoop loop;
  RunConsole console;
  std::vector<std::unique_ptr<zmq::context_t>> contexts;
  std::vector<std::unique_ptr<HostSearch>> searches;
  std::size_t accepted = 0;
  for (const HostSettings& agent : agents) {
    contexts.push_back(std::make_unique<zmq::context_t>());
    searches.push_back(std::make_unique<HostSearch>(
        loop, console, *contexts.back(), agent,
        HostSearch::Reports{.accepted = [&](HostLink&, auto) { ++accepted; },
                            .failed = [](const std::string& reason) { fmt::print("{}\n", reason); }}));
  }
  while (accepted < agents.size()) loop.run_once(std::chrono::milliseconds(10));
}

void measure(std::uint32_t count) {
  Plan plan;
  plan.hosts = count + 1;
  const core::RunKeys key = core::RunKeys::make();
  const HostSettings own = settings_of(plan, key, 0);
  std::vector<HostSettings> agents;
  for (std::uint32_t host = 1; host <= count; ++host) agents.push_back(settings_of(plan, key, host));
  HostDoor door(plan, own);
  RunConsole console;
  const auto begin = Clock::now();
  const std::clock_t processor = std::clock();
  std::jthread others([&] { join_all(agents); });
  door.gather(console);
  others.join();
  const std::chrono::duration<double> seconds = Clock::now() - begin;
  fmt::print("{{\"name\": \"joining of {} agents\", \"median_ns\": {:.0f}, \"cpu_ns\": {:.0f}}}\n", count,
             seconds.count() * 1e9, static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC * 1e9);
}

}  // namespace
}  // namespace trainyard::launch

int main(int count, char** words) {
  for (int i = 1; i < count; ++i) trainyard::launch::measure(static_cast<std::uint32_t>(std::atoi(words[i])));
}
