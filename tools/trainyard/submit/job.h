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

/// A run that an engine, such as Slurm, will start with one `trainyard launch` on each host. The members of the first
/// group follow from the plan of the launch file, and those of the second from the options of `trainyard submit`.
struct Job {
  std::string program;                 ///< The path of `trainyard` on the hosts.
  std::string file;                    ///< The launch file, as the user gave it.
  std::vector<std::string> arguments;  ///< The arguments of the launch file, such as "devices=2".
  std::uint32_t nodes = 1;             ///< The number of hosts.
  std::uint32_t ranks = 1;             ///< The number of ranks on each host.
  std::string accelerator;             ///< The name of the accelerator plugin. With `cpu`, ranks need no devices.
  /// True if the launch file names the file of the key that the hosts use to authenticate each other.
  bool names_key = false;
  bool continues = false;  ///< True if the run continues from its newest checkpoint when the job is restarted.
  /// The argument that makes the run continue; empty if `arguments` already contain it, or if the run does not
  /// continue.
  std::string resume;

  std::string name;
  std::uint32_t cpus = 1;                          ///< The number of processors on each host.
  std::optional<std::uint64_t> memory_mebibytes;   ///< The memory on each host.
  std::optional<std::chrono::seconds> time_limit;  ///< The time limit of each attempt; a restart begins a new attempt.
  std::chrono::seconds notice{120};  ///< The engine tells the run to stop this long before it ends the job.
  std::uint32_t restarts = 0;        ///< How many times the engine may restart the job.
  std::string queue;                 ///< The name of a Slurm partition or of a Kueue queue.
  std::string logs;                  ///< The folder for the output of the job.
  /// The file of the key that the hosts use to authenticate each other; empty if the options name none.
  std::string key;
  std::vector<std::string> options;  ///< Further options, which are passed on to the engine's program.
  std::vector<std::string> hosts;    ///< The names of the hosts, for mpirun.
  std::string image;                 ///< The container image.
  std::string name_space;            ///< The Kubernetes namespace.
  /// The Kubernetes resource that counts devices, such as "nvidia.com/gpu".
  std::string device_resource;
  std::string runtime;  ///< The training runtime of Kubeflow Trainer.
  std::vector<Volume> volumes;

  /// Returns the number of devices that each host needs.
  std::uint32_t devices() const { return accelerator == "cpu" ? 0 : ranks; }

  /// Returns true if a new key must be made for the job: it has several hosts, and neither the launch file nor the
  /// options specify a file with a key.
  bool makes_key() const { return nodes > 1 && key.empty() && !names_key; }

  /// Returns the command that every host runs, without the argument in `resume`.
  std::vector<std::string> command() const {
    std::vector<std::string> words{program, "launch", file};
    words.insert(words.end(), arguments.begin(), arguments.end());
    return words;
  }
};

}  // namespace trainyard::tools::submit
