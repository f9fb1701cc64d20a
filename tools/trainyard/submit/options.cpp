// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/submit/options.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>

#include "launch/hosts/host_key.h"
#include "messages/error.h"
#include "messages/printable.h"
#include "tools/trainyard/submit/engine.h"
#include "tools/trainyard/submit/quantities.h"

namespace trainyard::tools::submit {
namespace {

using Names = std::vector<std::string>;

/// The default number of processors for each rank: one that computes, and one that reads data.
constexpr std::uint32_t kCpusOfARank = 2;
constexpr std::uint32_t kMostCpus = 65536;
constexpr std::uint32_t kRestarts = 3;
constexpr std::uint32_t kMostRestarts = 1000;
constexpr const char* kLogs = "logs";
constexpr const char* kRuntime = "torch-distributed";

/// An option that applies only to some engines.
struct Rule {
  const char* option;
  bool given;
  Names engines;
  bool required = false;
};

std::vector<Rule> rules_for(const Options& given) {
  const Names kubernetes{"jobset", "trainjob"};
  const Names queued{"slurm", "jobset", "trainjob"};
  return {{"--time", given.time.has_value(), queued},
          {"--notice", given.notice.has_value(), {"slurm", "jobset"}},
          {"--restarts", given.restarts.has_value(), {"slurm", "jobset"}},
          {"--cpus", given.cpus.has_value(), queued},
          {"--memory", given.memory.has_value(), queued},
          {"--queue", given.queue.has_value(), queued},
          {"--logs", given.logs.has_value(), {"slurm"}},
          {"--option", !given.options.empty(), {"slurm", "mpirun"}},
          {"--hosts", !given.hosts.empty(), {"mpirun"}},
          {"--image", given.image.has_value(), kubernetes, true},
          {"--namespace", given.name_space.has_value(), kubernetes},
          {"--volume", !given.volumes.empty(), kubernetes},
          {"--device-resource", given.device_resource.has_value(), kubernetes},
          {"--runtime", given.runtime.has_value(), {"trainjob"}}};
}

bool is_one_of(char c, std::string_view further) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || further.find(c) != further.npos;
}

/// Returns `text`. Throws kInvalidArgument unless it begins with a letter or digit and otherwise consists of letters,
/// digits and the characters in `further`.
std::string checked(const char* option, const std::string& text, std::string_view further, const char* allowed) {
  const auto fits = [further](char c) { return is_one_of(c, further); };
  if (!text.empty() && is_one_of(text.front(), "") && std::ranges::all_of(text, fits)) return text;
  throw Error(Code::kInvalidArgument, "{} is '{}'; allowed: {}", option, printable_line(text), allowed);
}

std::uint32_t checked(const char* option, std::uint32_t number, std::uint32_t least, std::uint32_t most) {
  if (number >= least && number <= most) return number;
  throw Error(Code::kInvalidArgument, "{} is {}; allowed: a whole number from {} to {}", option, number, least, most);
}

/// Returns the absolute path of a key file. Throws if the file does not contain a key that the hosts of a run can use.
std::string key_file_from(const std::string& path) {
  launch::read_host_key(path);
  return std::filesystem::absolute(path).string();
}

Volume volume_from(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::string claim = text.substr(0, colon), path = colon == text.npos ? "" : text.substr(colon + 1);
  if (!path.starts_with('/') || path.find(':') != path.npos) {
    throw Error(Code::kInvalidArgument,
                "--volume is '{}'; allowed: CLAIM:PATH with an absolute path, such as data:/data",
                printable_line(text));
  }
  return {checked("the claim in --volume", claim, "-.", "letters, digits, '-' and '.'"), path};
}

}  // namespace

void Options::add_to(CLI::App& verb) {
  verb.add_option("--engine", engine, "slurm, jobset, trainjob or mpirun")->required()->type_name("ENGINE");
  verb.add_flag("--dry-run", dry_run, "print the job, but do not submit it");
  verb.add_option("--name", name, "name of the job (the name of the run)")->type_name("NAME");
  verb.add_option("--time", time, "time limit of each attempt, such as 2h30m")->type_name("TIME");
  verb.add_option("--notice", notice, "how long before the end of the job the run is\ntold to stop (2m)")
      ->type_name("TIME");
  verb.add_option("--restarts", restarts, "how many times the job may be restarted (3)")->type_name("N");
  verb.add_option("--cpus", cpus, "processors of each host (2 for each rank)")->type_name("N");
  verb.add_option("--memory", memory, "memory of each host, such as 64G")->type_name("SIZE");
  verb.add_option("--queue", queue, "partition of Slurm, or queue of Kueue")->type_name("NAME");
  verb.add_option("--logs", logs, "folder for the output of the job (logs)")->type_name("FOLDER");
  verb.add_option("--key", key, "file with the key of the hosts")->type_name("FILE");
  verb.add_option("--image", image, "container image that contains Trainyard")->type_name("IMAGE");
  verb.add_option("--namespace", name_space, "Kubernetes namespace")->type_name("NAME");
  verb.add_option("--volume", volumes, "CLAIM:PATH, a volume; the run starts in the\nfirst one")
      ->type_name("VOLUME")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.add_option("--device-resource", device_resource, "what Kubernetes calls the devices\n(nvidia.com/gpu for cuda)")
      ->type_name("NAME");
  verb.add_option("--runtime", runtime, "training runtime of the cluster\n(torch-distributed)")->type_name("NAME");
  verb.add_option("--hosts", hosts, "hosts for mpirun, such as a,b")
      ->type_name("NAMES")
      ->delimiter(',')
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.add_option("--option", options, "further option of sbatch or mpirun, such as\n--option=--account=physics")
      ->type_name("OPTION")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void Options::check_engine() const {
  find_engine(engine);
  for (const Rule& rule : rules_for(*this)) {
    const bool applies = std::ranges::find(rule.engines, engine) != rule.engines.end();
    if (rule.given && !applies) {
      throw Error(Code::kInvalidArgument, "the engine {} has no {}; it is for {}", engine, rule.option,
                  fmt::join(rule.engines, ", "));
    }
    if (rule.required && applies && !rule.given) {
      throw Error(Code::kInvalidArgument, "the engine {} needs {}", engine, rule.option);
    }
  }
}

std::uint32_t Options::restarts_or_default() const {
  if (engine == "mpirun") return 0;
  // For a TrainJob, the runtime decides about restarts, so the job must be prepared for them even if --restarts is not
  // given.
  return checked("--restarts", restarts.value_or(kRestarts), 0, kMostRestarts);
}

void Options::complete(Job& job) const {
  if (name) job.name = checked("--name", *name, "_-", "letters, digits, '_' and '-', beginning with a letter or digit");
  job.restarts = restarts_or_default();
  job.cpus = checked("--cpus", cpus.value_or(std::min(kMostCpus, kCpusOfARank * job.ranks)), 1, kMostCpus);
  if (memory) job.memory_mebibytes = parse_memory(*memory, "--memory");
  if (time) job.time_limit = parse_time(*time, "--time");
  if (notice) job.notice = parse_time(*notice, "--notice");
  if (queue) job.queue = checked("--queue", *queue, "_-.,", "letters, digits, '_', '-', '.' and ','");
  job.logs = logs.value_or(kLogs);
  if (job.logs.empty()) throw Error(Code::kInvalidArgument, "--logs is empty; allowed: a folder");
  if (key) job.key = key_file_from(*key);
  job.image = image ? checked("--image", *image, "_-.:/@", "a name such as registry.example.org/trainyard:1.0") : "";
  if (name_space) job.name_space = checked("--namespace", *name_space, "-", "letters, digits and '-'");
  if (device_resource) {
    job.device_resource = checked("--device-resource", *device_resource, "-./", "a name such as amd.com/gpu");
  }
  job.runtime = checked("--runtime", runtime.value_or(kRuntime), "-.", "letters, digits, '-' and '.'");
  for (const std::string& volume : volumes) job.volumes.push_back(volume_from(volume));
  for (const std::string& host : hosts) {
    job.hosts.push_back(checked("--hosts", host, "_-.", "names or addresses with commas between them"));
  }
  job.options = options;
}

}  // namespace trainyard::tools::submit
