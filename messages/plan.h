#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace trainyard {

/// One component as the launcher placed it. Made by launch/plan from the launch file; everything here is final, so a
/// process takes no decision of its own.
struct ComponentPlan {
  static constexpr const char* kTypeName = "ComponentPlan";

  std::uint32_t index = 0;  ///< Within the run; Header::source.
  std::string name;         ///< Full name: "rank0/optimizer".
  std::string plugin;
  std::string library;  ///< Path of the shared library.
  // Name of the process that hosts it.
  std::string process;
  std::string thread;  ///< Components of one process with the same thread share an event loop.
  std::uint32_t rank = 0;
  std::uint32_t world_size = 1;
  std::string parameters = "{}";              ///< JSON object.
  std::map<std::string, std::string> places;  ///< Where those parameters were written, for errors: "mnist.toml:12".
  std::map<std::string, std::string> topics;  ///< Port name to full topic name.
  std::vector<std::uint32_t> cpus;            ///< Pinned to these; empty = not pinned.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(index), CEREAL_NVP(name), CEREAL_NVP(plugin), CEREAL_NVP(library), CEREAL_NVP(process),
            CEREAL_NVP(thread), CEREAL_NVP(rank), CEREAL_NVP(world_size), CEREAL_NVP(parameters), CEREAL_NVP(places),
            CEREAL_NVP(topics), CEREAL_NVP(cpus));
  }
};

/// One connection from an output to an input, with the policy that both ends keep. The launch file decides; code on
/// either side is the same for every policy and transport.
struct EdgePlan {
  static constexpr const char* kTypeName = "EdgePlan";

  std::uint32_t id = 0;
  // Full name, with its leading '/'.
  std::string topic;
  std::uint32_t from = 0;  ///< Component index.
  std::string output;
  std::uint32_t to = 0;  ///< Component index.
  std::string input;
  std::string policy = "block";            ///< "block", "latest" or "drop_oldest".
  std::uint64_t window_messages = 64;      ///< Credits in messages.
  std::uint64_t window_bytes = 268435456;  ///< Credits in bytes; one message may always be under way.
  std::string transport = "thread";        ///< "thread", "process", "ipc" or "tcp".

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(id), CEREAL_NVP(topic), CEREAL_NVP(from), CEREAL_NVP(output), CEREAL_NVP(to), CEREAL_NVP(input),
            CEREAL_NVP(policy), CEREAL_NVP(window_messages), CEREAL_NVP(window_bytes), CEREAL_NVP(transport));
  }
};

/// All that one process must know to play its part. The answer to its Hello.
struct ProcessPlan {
  static constexpr const char* kTypeName = "ProcessPlan";

  // Unique on this host: "mnist-9ix".
  std::string run;
  std::string run_directory;     ///< Sockets of this run; private to the user.
  std::string output_directory;  ///< What the run writes.
  std::string process;
  std::uint32_t process_index = 0;  ///< Slot in shared buffers' reader counts.
  std::uint64_t seed = 0;
  // What standard error shows; visitors get more.
  std::string log_level = "info";
  // Searched in this order; empty = the process's own defaults.
  std::vector<std::string> plugin_path;
  std::map<std::string, std::string>
      bind;  ///< Thread to the address its socket binds: "ipc:///..." or "tcp://127.0.0.1:*".
  std::vector<ComponentPlan> components;  ///< Of the whole run, by index.
  std::vector<EdgePlan> edges;            ///< That touch this process.

  template <class Archive>
  void serialize(Archive& archive) {
    archive(CEREAL_NVP(run), CEREAL_NVP(run_directory), CEREAL_NVP(output_directory), CEREAL_NVP(process),
            CEREAL_NVP(process_index), CEREAL_NVP(seed), CEREAL_NVP(log_level), CEREAL_NVP(plugin_path),
            CEREAL_NVP(bind), CEREAL_NVP(components), CEREAL_NVP(edges));
  }
};

}  // namespace trainyard
