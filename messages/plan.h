// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "messages/edge_words.h"
#include "messages/log_record.h"

namespace trainyard {

/// One component of the run and its placement. The planner (launch/plan) creates it from the launch file and makes all
/// decisions, so that a process need not make any.
struct ComponentPlan {
  static constexpr const char* kTypeName = "ComponentPlan";

  std::uint32_t index = 0;  ///< The number of the component within the run, as in Header::source.
  std::string name;         ///< The full name, such as "rank0/optimizer".
  std::string plugin;
  std::string library;  ///< The path of the plugin's shared library.
  /// The name of the process that hosts the component.
  std::string process;
  /// The name of the event loop. Components of one process that name the same thread share a loop.
  std::string thread;
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::uint32_t host = 0;                ///< The number of the host on which the component runs, counted from 0.
  std::uint32_t first_rank_of_host = 0;  ///< The lowest rank on that host.
  std::uint32_t ranks_of_host = 1;       ///< The number of ranks on that host.
  std::string parameters = "{}";         ///< A JSON object.
  /// For each parameter that the launch file sets, the file and line, such as "mnist.toml:12", for error messages. The
  /// keys are the names of the parameters.
  std::map<std::string, std::string> places;
  /// The full topic name of each port. The keys are the names of the ports.
  std::map<std::string, std::string> topics;
  std::vector<std::uint32_t> cpus;  ///< The CPUs to which the component's thread is pinned; empty if it is not pinned.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(index), CEREAL_NVP(name), CEREAL_NVP(plugin), CEREAL_NVP(library), CEREAL_NVP(process),
            CEREAL_NVP(thread), CEREAL_NVP(rank), CEREAL_NVP(world_size), CEREAL_NVP(host),
            CEREAL_NVP(first_rank_of_host), CEREAL_NVP(ranks_of_host), CEREAL_NVP(parameters), CEREAL_NVP(places),
            CEREAL_NVP(topics), CEREAL_NVP(cpus));
  }
};

/// One connection from an output to an input, with its policy. The policy and the window are those that the input
/// declares, unless the launch file overrides them. The transport depends on where the planner has placed the two
/// components.
struct EdgePlan {
  static constexpr const char* kTypeName = "EdgePlan";

  std::uint32_t id = 0;
  /// The full name, with its leading '/'.
  std::string topic;
  std::uint32_t from = 0;  ///< The index of the sending component.
  std::string output;
  std::uint32_t to = 0;  ///< The index of the receiving component.
  std::string input;
  Policy policy = Policy::kBlock;
  std::uint64_t window_messages = 64;  ///< The maximum number of messages that have been sent and not yet handled.
  /// The limit on the total size of these messages, in bytes. As long as the total is below the limit, the next message
  /// is sent, whatever its size, so the total can exceed the limit.
  std::uint64_t window_bytes = 268435456;
  Transport transport = Transport::kThread;

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(id), CEREAL_NVP(topic), CEREAL_NVP(from), CEREAL_NVP(output), CEREAL_NVP(to), CEREAL_NVP(input),
            CEREAL_NVP(policy), CEREAL_NVP(window_messages), CEREAL_NVP(window_bytes), CEREAL_NVP(transport));
  }
};

/// The part of the plan that one process needs. The launcher sends it in answer to Hello.
struct ProcessPlan {
  static constexpr const char* kTypeName = "ProcessPlan";

  /// The name of the run in the launch file, such as "mnist". The full name, such as "mnist-9ix", which is unique on
  /// this host, is the last part of `run_directory`.
  std::string run;
  /// The folder with the sockets of this run and the small files through which its ranks find each other; private to
  /// the user.
  std::string run_directory;
  std::string output_directory;  ///< The folder for the run's results.
  std::string process;
  std::uint32_t process_index = 0;  ///< The index of this process, under which shared buffers count its references.
  std::uint64_t seed = 0;
  /// The lowest level of log records that are printed on standard error. Subscribers to the log also receive records of
  /// lower levels.
  LogLevel log_level = LogLevel::kInfo;
  /// The folders to search for plugins, in this order. If the list is empty, the process uses its own defaults.
  std::vector<std::string> plugin_path;
  /// The address to which the socket of each thread is bound: "ipc:///..." or "tcp://127.0.0.1:*". The keys are the
  /// names of the threads.
  std::map<std::string, std::string> bind;
  std::vector<ComponentPlan> components;  ///< The components of the whole run, by index.
  std::vector<EdgePlan> edges;            ///< The edges that begin or end in this process.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(run), CEREAL_NVP(run_directory), CEREAL_NVP(output_directory), CEREAL_NVP(process),
            CEREAL_NVP(process_index), CEREAL_NVP(seed), CEREAL_NVP(log_level), CEREAL_NVP(plugin_path),
            CEREAL_NVP(bind), CEREAL_NVP(components), CEREAL_NVP(edges));
  }
};

}  // namespace trainyard
