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

/// One component of the run and its placement. launch/plan creates it from the launch file. All values are final, so a
/// process makes no decisions of its own.
struct ComponentPlan {
  static constexpr const char* kTypeName = "ComponentPlan";

  std::uint32_t index = 0;  ///< The number of the component within the run, as in Header::source.
  std::string name;         ///< The full name, such as "rank0/optimizer".
  std::string plugin;
  std::string library;  ///< The path of the shared library.
  /// The name of the process that hosts the component.
  std::string process;
  std::string thread;  ///< The event loop; components of a process that name the same thread share one.
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::string parameters = "{}";  ///< A JSON object.
  /// For each parameter, the place where it was set, such as "mnist.toml:12". Errors name it.
  std::map<std::string, std::string> places;
  std::map<std::string, std::string> topics;  ///< The full topic name of every port, by the port's name.
  std::vector<std::uint32_t> cpus;  ///< The component's thread is pinned to these CPUs; empty if it is not pinned.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(index), CEREAL_NVP(name), CEREAL_NVP(plugin), CEREAL_NVP(library), CEREAL_NVP(process),
            CEREAL_NVP(thread), CEREAL_NVP(rank), CEREAL_NVP(world_size), CEREAL_NVP(parameters), CEREAL_NVP(places),
            CEREAL_NVP(topics), CEREAL_NVP(cpus));
  }
};

/// One connection from an output to an input, with the policy that both ends follow. The launch file determines it; the
/// components' code is the same for every policy and transport.
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
  std::uint64_t window_messages = 64;      ///< The credits in messages.
  std::uint64_t window_bytes = 268435456;  ///< The credits in bytes; one message may always be under way.
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

  /// The run's name, such as "mnist-9ix", which is unique on this host.
  std::string run;
  std::string run_directory;     ///< The folder of this run's sockets, private to the user.
  std::string output_directory;  ///< The folder for what the run writes.
  std::string process;
  std::uint32_t process_index = 0;  ///< The process's slot in the reader counts of shared buffers.
  std::uint64_t seed = 0;
  /// The lowest level of log records on standard error. Visitors receive lower levels, too.
  LogLevel log_level = LogLevel::kInfo;
  /// The folders to search for plugins, in this order. If the list is empty, the process uses its own defaults.
  std::vector<std::string> plugin_path;
  /// The address to which the socket of each thread is bound: "ipc:///..." or "tcp://127.0.0.1:*".
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
