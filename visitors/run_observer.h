// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "visitors/bottleneck.h"
#include "visitors/registry_client.h"

namespace trainyard::visitors {

/// The state of a component or an external program in one observation. Unknown numbers are empty, or 0.
struct ObservedNode {
  std::string name;
  std::string plugin;
  std::string process;
  std::string state;
  int pid = 0;
  std::optional<std::uint64_t> rank;  ///< Empty for an external program, and for a component that exists only once.
  std::uint64_t restarts = 0;
  std::optional<ComponentShares> shares;
};

/// A process that hosts components.
struct ObservedProcess {
  std::string name;
  int pid = 0;
  std::optional<double> cpu;          ///< Processor time divided by elapsed time; 1.0 is one core.
  std::optional<double> cpu_seconds;  ///< The processor time since the process began.
  std::optional<std::uint64_t> memory_bytes;
};

/// An edge of the plan, that is, a connection from an output of the component `from` to an input of the component `to`.
struct ObservedEdge {
  std::uint64_t number = 0;
  std::string topic, from, to, policy;
  std::optional<double> messages_per_s;
  std::optional<double> bytes_per_s;
  std::uint64_t messages = 0;              ///< The number of messages sent since the sender's process began.
  std::uint64_t bytes = 0;                 ///< The number of bytes sent since the sender's process began.
  std::optional<std::uint64_t> under_way;  ///< The number of messages that have been sent but not handled yet.
  std::uint64_t window = 0;                ///< The maximum number of messages sent but not handled yet.
  std::uint64_t dropped = 0;               ///< The number of messages dropped since the sender's process began.
  std::uint64_t blocked = 0;               ///< How many times a message had to wait because the window was used up.
};

struct Observation {
  std::vector<ObservedNode> nodes;
  std::vector<ObservedProcess> processes;
  std::vector<ObservedEdge> edges;
  std::vector<Bottleneck> bottlenecks;
};

/// Whether an observation makes the components measure how they spend their time, which slows the run down slightly.
/// With kOff, an observation contains shares only if another program makes the components measure.
enum class Accounting : std::uint8_t { kOff, kOn };

/// Observes a run through its registry, the socket at which the launcher answers questions: how its components spend
/// their time, how much processor time and memory its processes use, and how many messages pass through its edges. Each
/// observation covers the time since the previous one. An observation makes the components measure how they spend their
/// time, except with Accounting::kOff. They stop measuring when there has been no such observation for kLease.
///
///     RunObserver observer(registry);
///     observer.observe();
///     sleep(1);
///     show(observer.observe());
class RunObserver {
 public:
  /// How long the components continue to measure after an observation.
  static constexpr std::chrono::seconds kLease{10};

  /// `registry` must outlive this object.
  explicit RunObserver(RegistryClient& registry) : registry_(registry) {}

  /// Queries the run, and returns what it has done since the last call. The first call returns no rates, and it returns
  /// shares only if another program was already observing the run. Throws kTimeout if the launcher does not answer
  /// within 12 s.
  Observation observe();

  /// Queries the run without waiting for the answer, so that a program can do something else in the meantime.
  /// `accounting` specifies whether this makes the components measure how they spend their time. Does nothing if the
  /// answer to an earlier call is still missing and that call was made less than 12 s ago.
  void ask(Accounting accounting = Accounting::kOn);
  /// Returns what observe() returns, or nothing if the answer to ask() does not arrive within `deadline`. Throws
  /// kInvalidArgument or kNotFound if the launcher refuses to answer, for instance because it is busy with too many
  /// calls; the next ask() then asks again.
  std::optional<Observation> answer(std::chrono::milliseconds deadline);

 private:
  struct Sample {
    double value = 0;
    std::int64_t time_ns = 0;
  };

  void forget_questions();
  std::optional<Observation> read_answers(std::chrono::milliseconds deadline);
  void read_nodes(const nlohmann::json& nodes, Observation& observation);
  void read_shares(const nlohmann::json& answers, Observation& observation);
  void read_processes(const nlohmann::json& answers, Observation& observation);
  void read_edges(const nlohmann::json& answer, Observation& observation);
  void find_bottleneck(Observation& observation) const;
  // Returns by how much the counter `key` has grown per second since the last call with this key, or nothing at the
  // first call.
  std::optional<double> rate(const std::string& key, double value, std::int64_t time_ns);

  RegistryClient& registry_;
  std::optional<std::uint64_t> nodes_question_;
  std::optional<std::uint64_t> counters_question_;
  std::chrono::steady_clock::time_point asked_;
  nlohmann::json nodes_;
  std::map<std::string, ComponentTotals> totals_;
  std::map<std::string, Sample> samples_;
  std::map<std::string, std::string> threads_;  ///< The event loop of each component, as "process/thread".
};

}  // namespace trainyard::visitors
