// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::tools::submit {

/// A volume claim of Kubernetes, and where the pods see it.
struct Volume {
  std::string claim;
  std::string path;
};

/// A run that an engine is asked to start, once on each of its hosts. The first part follows from the plan of the
/// launch file, the second from the options of `trainyard submit`.
struct Job {
  std::string program;                 ///< The path of `trainyard` on the hosts.
  std::string file;                    ///< The launch file, as the user gave it.
  std::vector<std::string> arguments;  ///< The words after it, such as "devices=2".
  std::uint32_t nodes = 1;             ///< How many hosts.
  std::uint32_t ranks = 1;             ///< The ranks on each host.
  std::string accelerator;             ///< The name of the plugin. Ranks of `cpu` need no devices.
  bool names_key = false;              ///< True if the launch file names the file with the key of the hosts.
  bool continues = false;  ///< True if the run continues from its newest checkpoint when the job is started again.
  /// The argument that makes it continue; empty if the arguments of the run already say so, or if it does not.
  std::string resume;

  std::string name;
  std::uint32_t cpus = 1;                          ///< For each host.
  std::optional<std::uint64_t> memory_mebibytes;   ///< For each host.
  std::optional<std::chrono::seconds> time_limit;  ///< For each start of the job.
  std::chrono::seconds notice{120};                ///< How long before its end the engine tells the run to stop.
  std::uint32_t restarts = 0;                      ///< How often the engine may start the job again.
  std::string queue;                               ///< A partition of Slurm, or a queue of Kueue.
  std::string logs;                                ///< The folder for what the job prints.
  std::string key;                                 ///< The file with the key of the hosts; empty = none.
  std::vector<std::string> options;                ///< Further options of the engine's own program.
  std::vector<std::string> hosts;                  ///< The names of the hosts, for mpirun.
  std::string image;                               ///< The container image.
  std::string name_space;                          ///< The namespace of Kubernetes.
  std::string device_resource;                     ///< The name by which Kubernetes counts devices.
  std::string runtime;                             ///< The training runtime of Kubeflow Trainer.
  std::vector<Volume> volumes;

  /// Returns how many devices each host needs.
  std::uint32_t devices() const { return accelerator == "cpu" ? 0 : ranks; }

  /// Returns true if the job makes a key of its own: several hosts need one, and nobody has named a file.
  bool makes_key() const { return nodes > 1 && key.empty() && !names_key; }

  /// Returns the command that every host runs.
  std::vector<std::string> command() const {
    std::vector<std::string> words{program, "launch", file};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  }
};

}  // namespace trainyard::tools::submit
