// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace trainyard::viewer {

/// How much processor time a process uses, and how much memory it has, from /proc.
class ProcessMeter {
 public:
  struct Usage {
    std::optional<double> cpu_percent;  ///< Since the last call for this process; 100 is one core.
    std::optional<std::uint64_t> memory_bytes;
  };

  Usage measure(pid_t pid, std::int64_t now_ns);

 private:
  struct Before {
    std::uint64_t ticks = 0;
    std::int64_t time_ns = 0;
  };
  std::map<pid_t, Before> before_;
};

/// Makes the picture of a run, its components and its edges, from the answers of the registry. Rates are differences
/// between two pictures.
class GraphMaker {
 public:
  /// `nodes` is the answer to the question `nodes`, `counters` the answer of all processes to `counters`, and `topics`
  /// the answer to `topics`. Returns the object `graph` of docs/viewer_protocol.md.
  nlohmann::json make(const nlohmann::json& nodes, const nlohmann::json& counters, const nlohmann::json& topics,
                      std::int64_t now_ns);

 private:
  struct Before {
    double sent = 0, bytes = 0;
    std::int64_t time_ns = 0;
  };
  struct Seen {
    pid_t pid = 0;
    int restarts = 0;
  };

  nlohmann::json component(const nlohmann::json& node, const ProcessMeter::Usage& usage, bool alone);
  nlohmann::json edge(const nlohmann::json& counters, std::int64_t now_ns);

  ProcessMeter meter_;
  std::map<std::string, Before> edges_;
  std::map<std::string, Seen> components_;
};

}  // namespace trainyard::viewer
