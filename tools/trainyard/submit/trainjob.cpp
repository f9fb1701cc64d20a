// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/submit/trainjob.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tools/trainyard/submit/pod.h"
#include "tools/trainyard/submit/yaml_text.h"

namespace trainyard::tools::submit {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kTrainJobVersion = "trainer.kubeflow.org/v1alpha1";
constexpr const char* kTrainJobKind = "TrainJob";
/// The name of the replicated job and of its container in the runtimes of Kubeflow Trainer.
constexpr const char* kNode = "node";

Json trainer_of(const Job& job) {
  Json trainer{{"image", job.image},
               {"command", pod::command_of(job)},
               {"numNodes", job.nodes},
               {"numProcPerNode", job.ranks},
               {"resourcesPerNode", pod::resources_of(job)}};
  if (Json variables = pod::key_environment_of(job); !variables.empty()) trainer["env"] = variables;
  return trainer;
}

/// Returns the patch that adds the volumes to the pods of the runtime, because a TrainJob itself has no volumes.
Json patch_of(const Job& job) {
  Json spec{{"volumes", pod::volumes_of(job)},
            {"containers", Json::array({Json{{"name", kNode}, {"volumeMounts", pod::mounts_of(job)}}})}};
  if (const Json security = pod::security_of(job); !security.is_null()) spec["securityContext"] = security;
  const Json node{{"name", kNode}, {"template", {{"spec", {{"template", {{"spec", spec}}}}}}}};
  return {{"manager", "trainyard"},
          {"trainingRuntimeSpec", {{"template", {{"spec", {{"replicatedJobs", Json::array({node})}}}}}}}};
}

}  // namespace

std::string TrainJob::text(const Job& job) const {
  Json object = pod::object_of(job, kTrainJobVersion, kTrainJobKind);
  object["spec"] = {
      {"runtimeRef", {{"apiGroup", "trainer.kubeflow.org"}, {"kind", "ClusterTrainingRuntime"}, {"name", job.runtime}}},
      {"trainer", trainer_of(job)}};
  if (job.time_limit) object["spec"]["activeDeadlineSeconds"] = job.time_limit->count();
  if (!pod::volumes_of(job).empty()) object["spec"]["runtimePatches"] = Json::array({patch_of(job)});
  return "# Written by `trainyard submit`.\n" + yaml_text(object);
}

int TrainJob::hand_over(const Job& job) const { return pod::apply(job, text(job), kTrainJobVersion, kTrainJobKind); }

}  // namespace trainyard::tools::submit
