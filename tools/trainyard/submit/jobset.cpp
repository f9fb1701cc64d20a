// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/submit/jobset.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/submit/pod.h"
#include "tools/trainyard/submit/yaml_text.h"

namespace trainyard::tools::submit {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kVersion = "jobset.x-k8s.io/v1alpha2";
constexpr const char* kKind = "JobSet";
constexpr const char* kHosts = "hosts";  ///< The name of the replicated job.
constexpr const char* kContainer = "trainyard";

/// Returns the environment variables from which `trainyard launch` learns the hosts of the run. Kubernetes itself sets
/// the other variables that are needed.
Json environment_of(const Job& job) {
  const std::string name = pod::name_of(job);
  Json variables = Json::array();
  variables.push_back({{"name", "TRAINYARD_HOST_COUNT"}, {"value", std::to_string(job.nodes)}});
  variables.push_back({{"name", "TRAINYARD_MEET_AT"}, {"value", fmt::format("{}-{}-0-0.{}", name, kHosts, name)}});
  const auto label = [](const std::string& key) {
    return Json{{"fieldRef", {{"fieldPath", fmt::format("metadata.labels['jobset.sigs.k8s.io/{}']", key)}}}};
  };
  variables.push_back({{"name", "TRAINYARD_JOB"}, {"valueFrom", label("jobset-uid")}});
  variables.push_back({{"name", "TRAINYARD_RESTARTS"}, {"valueFrom", label("restart-attempt")}});
  for (Json& variable : pod::key_environment_of(job)) variables.push_back(variable);
  return variables;
}

Json container_of(const Job& job) {
  Json container{{"name", kContainer},
                 {"image", job.image},
                 {"command", pod::command_of(job)},
                 {"env", environment_of(job)},
                 {"resources", pod::resources_of(job)}};
  // The run writes its files into its working directory. If there are volumes, this is the first volume, so that the
  // files outlive the pod.
  if (!job.volumes.empty()) container["workingDir"] = job.volumes.front().path;
  if (Json mounts = pod::mounts_of(job); !mounts.empty()) container["volumeMounts"] = mounts;
  return container;
}

Json pod_of(const Job& job) {
  Json spec{{"restartPolicy", "Never"}, {"terminationGracePeriodSeconds", job.notice.count()}};
  if (const Json security = pod::security_of(job); !security.is_null()) spec["securityContext"] = security;
  spec["containers"] = Json::array({container_of(job)});
  if (Json volumes = pod::volumes_of(job); !volumes.empty()) spec["volumes"] = volumes;
  return spec;
}

/// Returns the Job. If one pod fails, the whole Job fails, because a run cannot continue without one of its hosts. If a
/// pod fails with the exit code 2 (bad input), the job is not restarted, because it would fail again.
Json job_of(const Job& job) {
  Json spec{{"parallelism", job.nodes}, {"completions", job.nodes}, {"completionMode", "Indexed"}, {"backoffLimit", 0}};
  if (job.time_limit) spec["activeDeadlineSeconds"] = job.time_limit->count();
  const Json bad_input{{"action", "FailJob"},
                       {"onExitCodes", {{"containerName", kContainer}, {"operator", "In"}, {"values", {kExitUsage}}}}};
  spec["podFailurePolicy"] = {{"rules", Json::array({bad_input})}};
  spec["template"] = {{"spec", pod_of(job)}};
  return spec;
}

/// Returns the failure policy. Before a restart, all pods of the previous attempt must be gone, because the new pods
/// write to the same folder.
Json failure_policy_of(const Job& job) {
  const Json bad_input{
      {"name", "badInput"}, {"action", "FailJobSet"}, {"onJobFailureReasons", Json::array({"PodFailurePolicy"})}};
  return {{"maxRestarts", job.restarts}, {"restartStrategy", "BlockingRecreate"}, {"rules", Json::array({bad_input})}};
}

}  // namespace

std::string JobSet::text(const Job& job) const {
  Json object = pod::object_of(job, kVersion, kKind);
  object["spec"] = {{"network", {{"enableDNSHostnames", true}, {"publishNotReadyAddresses", true}}},
                    {"failurePolicy", failure_policy_of(job)},
                    {"replicatedJobs",
                     Json::array({Json{{"name", kHosts}, {"replicas", 1}, {"template", {{"spec", job_of(job)}}}}})}};
  return "# Written by `trainyard submit`.\n" + yaml_text(object);
}

int JobSet::hand_over(const Job& job) const { return pod::apply(job, text(job), kVersion, kKind); }

}  // namespace trainyard::tools::submit
