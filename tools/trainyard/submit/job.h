// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace trainyard::tools::submit {

/// A persistent volume claim of Kubernetes, and the path at which it is mounted in the pods.
struct Volume {
  std::string claim;
  std::string path;
};

/// A run that an engine is asked to start, once on each of its hosts. The first part follows from the plan of the
/// launch file, the second from the options of `trainyard submit`.
struct Job {
  std::string program;                 ///< The path of `trainyard` on the hosts.
  std::string file;                    ///< The launch file, as the user gave it.
  std::vector<std::string> arguments;  ///< The words of the command line after the launch file, such as "devices=2".
  std::uint32_t nodes = 1;             ///< The number of hosts.
  std::uint32_t ranks = 1;             ///< The number of ranks on each host.
  std::string accelerator;             ///< The name of the accelerator. With `cpu`, ranks need no devices.
  bool names_key = false;              ///< True if the launch file names the file with the key of the hosts.
  bool continues = false;  ///< True if the run continues from its newest checkpoint when the job is started again.
  /// The argument with which the run continues from its newest checkpoint; empty if the arguments already contain it,
  /// or if the run does not continue.
  std::string resume;

  std::string name;
  std::uint32_t cpus = 1;                          ///< The number of processors on each host.
  std::optional<std::uint64_t> memory_mebibytes;   ///< The memory on each host.
  std::optional<std::chrono::seconds> time_limit;  ///< The time limit for each start of the job.
  std::chrono::seconds notice{120};                ///< How long before the time limit the engine asks the run to stop.
  std::uint32_t restarts = 0;        ///< The maximum number of times that the engine may start the job again.
  std::string queue;                 ///< The name of a partition of Slurm, or of a queue of Kueue.
  std::string logs;                  ///< The folder for the output of the job.
  std::string key;                   ///< The path of the file with the key of the hosts; empty if none is given.
  std::vector<std::string> options;  ///< Further options for the engine's own program.
  std::vector<std::string> hosts;    ///< The names of the hosts, for mpirun.
  std::string image;                 ///< The container image.
  std::string name_space;            ///< The namespace of Kubernetes.
  /// The name of the resource that stands for devices in Kubernetes, such as "nvidia.com/gpu".
  std::string device_resource;
  std::string runtime;  ///< The training runtime of Kubeflow Trainer.
  std::vector<Volume> volumes;

  /// Returns how many devices each host needs.
  std::uint32_t devices() const { return accelerator == "cpu" ? 0 : ranks; }

  /// Returns true if the job makes its own key, because it has several hosts and no key file is given.
  bool makes_key() const { return nodes > 1 && key.empty() && !names_key; }

  /// Returns the command that every host runs.
  std::vector<std::string> command() const {
    std::vector<std::string> words{program, "launch", file};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  }
};

}  // namespace trainyard::tools::submit
