// SPDX-License-Identifier: Apache-2.0
// Reads the manifests with PyYAML, and checks them against the APIs of JobSet and Kubeflow Trainer.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "messages/error.h"
#include "tools/trainyard/submit/jobset.h"
#include "tools/trainyard/submit/testing/yaml_reader.h"
#include "tools/trainyard/submit/trainjob.h"

namespace trainyard::tools::submit {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

Job pod_job() {
  Job job;
  job.program = "trainyard";
  job.file = "mlp.toml";
  job.arguments = {"devices=2", "text=$(HOME) $$ \"it's\": #no\n- yes"};
  job.ranks = 2;
  job.nodes = 4;
  job.accelerator = "cuda";
  job.continues = true;
  job.resume = "component.checkpoint_writer.params.resume=auto";
  job.name = "My_mlp";
  job.cpus = 8;
  job.memory_mebibytes = 65536;
  job.restarts = 3;
  job.image = "registry.example.org:5000/trainyard:1.0";
  job.runtime = "torch-distributed";
  job.names_key = true;
  return job;
}

class KubernetesManifestTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!reader_.missing().empty()) GTEST_SKIP() << "skipped: " << reader_.missing();
  }

  json jobset(const Job& job) const { return reader_.read(JobSet().text(job)); }
  json trainjob(const Job& job) const { return reader_.read(TrainJob().text(job)); }

  /// Returns the pod of the only replicated job.
  static json pod_in(const json& jobset) {
    return jobset["spec"]["replicatedJobs"][0]["template"]["spec"]["template"]["spec"];
  }

  testing::YamlReader reader_;
};

std::string error_of(const Job& job) {
  try {
    JobSet().text(job);
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(KubernetesManifestTest, AJobSetHasOnePodOfAnIndexedJobForEachHost) {
  const json object = jobset(pod_job());
  EXPECT_EQ(object["apiVersion"], "jobset.x-k8s.io/v1alpha2");
  EXPECT_EQ(object["kind"], "JobSet");
  EXPECT_EQ(object["metadata"], (json{{"name", "my-mlp"}}));
  EXPECT_EQ(object["spec"]["network"], (json{{"enableDNSHostnames", true}, {"publishNotReadyAddresses", true}}));
  ASSERT_EQ(object["spec"]["replicatedJobs"].size(), 1u);
  const json& hosts = object["spec"]["replicatedJobs"][0];
  EXPECT_EQ(hosts["name"], "hosts");
  EXPECT_EQ(hosts["replicas"], 1);
  const json& spec = hosts["template"]["spec"];
  EXPECT_EQ(spec["parallelism"], 4);
  EXPECT_EQ(spec["completions"], 4);
  EXPECT_EQ(spec["completionMode"], "Indexed");
  EXPECT_EQ(spec["backoffLimit"], 0);
  EXPECT_FALSE(spec.contains("activeDeadlineSeconds"));
}

TEST_F(KubernetesManifestTest, AllPodsOfAJobSetStartAgainExceptAfterBadInput) {
  const json object = jobset(pod_job());
  EXPECT_EQ(object["spec"]["failurePolicy"],
            json::parse(R"({"maxRestarts": 3, "restartStrategy": "BlockingRecreate", "rules": [
              {"name": "badInput", "action": "FailJobSet", "onJobFailureReasons": ["PodFailurePolicy"]}]})"));
  EXPECT_EQ(object["spec"]["replicatedJobs"][0]["template"]["spec"]["podFailurePolicy"],
            json::parse(R"({"rules": [{"action": "FailJob", "onExitCodes":
              {"containerName": "trainyard", "operator": "In", "values": [2]}}]})"));
  EXPECT_EQ(pod_in(object)["restartPolicy"], "Never") << "a podFailurePolicy needs it";
}

TEST_F(KubernetesManifestTest, TheContainerRunsTheCommandUnchangedAndTellsTheEnvironmentWhatItReads) {
  const json pod = pod_in(jobset(pod_job()));
  ASSERT_EQ(pod["containers"].size(), 1u);
  const json& container = pod["containers"][0];
  EXPECT_EQ(container["name"], "trainyard");
  EXPECT_EQ(container["image"], "registry.example.org:5000/trainyard:1.0");
  // Kubernetes replaces $$( by $(, $$ by $, and $(NAME) by the value of a variable.
  EXPECT_EQ(container["command"],
            (json{"trainyard", "launch", "mlp.toml", "devices=2", "text=$$(HOME) $$$ \"it's\": #no\n- yes",
                  "component.checkpoint_writer.params.resume=auto"}));
  EXPECT_EQ(container["env"], json::parse(R"([
    {"name": "TRAINYARD_HOST_COUNT", "value": "4"},
    {"name": "TRAINYARD_MEET_AT", "value": "my-mlp-hosts-0-0.my-mlp"},
    {"name": "TRAINYARD_JOB", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['jobset.sigs.k8s.io/jobset-uid']"}}},
    {"name": "TRAINYARD_RESTARTS", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['jobset.sigs.k8s.io/restart-attempt']"}}}
  ])"));
  const json needs{{"cpu", "8"}, {"memory", "65536Mi"}, {"nvidia.com/gpu", "2"}};
  EXPECT_EQ(container["resources"], (json{{"requests", needs}, {"limits", needs}}));
  EXPECT_EQ(pod["terminationGracePeriodSeconds"], 120);
  for (const char* absent : {"volumes", "securityContext"}) EXPECT_FALSE(pod.contains(absent)) << absent;
}

TEST_F(KubernetesManifestTest, ALimitAQueueANamespaceAndVolumesAreWhereKubernetesLooksForThem) {
  Job job = pod_job();
  job.time_limit = std::chrono::hours(2);
  job.notice = std::chrono::minutes(5);
  job.queue = "team-a";
  job.name_space = "research";
  job.volumes = {{"data", "/data"}, {"data", "/again: #x"}};
  const json object = jobset(job);
  EXPECT_EQ(object["metadata"], json::parse(R"({"name": "my-mlp", "namespace": "research",
    "labels": {"kueue.x-k8s.io/queue-name": "team-a"}})"));
  EXPECT_EQ(object["spec"]["replicatedJobs"][0]["template"]["spec"]["activeDeadlineSeconds"], 7200);
  const json pod = pod_in(object);
  EXPECT_EQ(pod["terminationGracePeriodSeconds"], 300);
  EXPECT_EQ(pod["volumes"], json::parse(R"([{"name": "volume-0", "persistentVolumeClaim": {"claimName": "data"}},
    {"name": "volume-1", "persistentVolumeClaim": {"claimName": "data"}}])"));
  EXPECT_EQ(pod["containers"][0]["volumeMounts"], json::parse(R"([{"name": "volume-0", "mountPath": "/data"},
    {"name": "volume-1", "mountPath": "/again: #x"}])"));
  EXPECT_EQ(pod["containers"][0]["workingDir"], "/data") << "what the run writes must outlive the pod";
  EXPECT_EQ(pod["securityContext"]["fsGroup"], 1000);
}

TEST_F(KubernetesManifestTest, TheKeyIsNamedAndNotContained) {
  Job job = pod_job();
  job.key = "/home/me/keys/secret-file";
  const std::string text = JobSet().text(job);
  EXPECT_EQ(text.find("secret-file"), text.npos);
  const json pod = pod_in(reader_.read(text));
  EXPECT_EQ(pod["volumes"],
            json::parse(R"([{"name": "key", "secret": {"secretName": "my-mlp-key", "defaultMode": 256}}])"));
  EXPECT_EQ(pod["containers"][0]["volumeMounts"],
            json::parse(R"([{"name": "key", "mountPath": "/etc/trainyard/key", "subPath": "key", "readOnly": true}])"));
  EXPECT_EQ(pod["containers"][0]["env"].back(),
            json::parse(R"({"name": "TRAINYARD_KEY_FILE", "value": "/etc/trainyard/key"})"));
  EXPECT_EQ(pod["securityContext"], (json{{"runAsUser", 0}}));
  // A key that is made for the job is mounted at the same path.
  job.key.clear();
  job.names_key = false;
  EXPECT_EQ(JobSet().text(job), text);
}

TEST_F(KubernetesManifestTest, ATrainJobRefersToARuntimeAndPatchesItOnlyForVolumes) {
  Job job = pod_job();
  const json object = trainjob(job);
  EXPECT_EQ(object["apiVersion"], "trainer.kubeflow.org/v1alpha1");
  EXPECT_EQ(object["kind"], "TrainJob");
  EXPECT_EQ(object["spec"]["runtimeRef"], json::parse(R"({"apiGroup": "trainer.kubeflow.org",
    "kind": "ClusterTrainingRuntime", "name": "torch-distributed"})"));
  const json& trainer = object["spec"]["trainer"];
  EXPECT_EQ(trainer["numNodes"], 4);
  EXPECT_EQ(trainer["numProcPerNode"], 2);
  EXPECT_EQ(trainer["command"].back(), "component.checkpoint_writer.params.resume=auto");
  EXPECT_EQ(trainer["resourcesPerNode"]["limits"]["nvidia.com/gpu"], "2");
  EXPECT_FALSE(trainer.contains("env"));
  EXPECT_FALSE(object["spec"].contains("runtimePatches"));

  job.volumes = {{"data", "/data"}};
  job.time_limit = std::chrono::hours(1);
  const json patched = trainjob(job);
  EXPECT_EQ(patched["spec"]["activeDeadlineSeconds"], 3600);
  const json& patch = patched["spec"]["runtimePatches"][0];
  EXPECT_EQ(patch["manager"], "trainyard");
  const json& node = patch["trainingRuntimeSpec"]["template"]["spec"]["replicatedJobs"][0];
  EXPECT_EQ(node["name"], "node");
  EXPECT_EQ(node["template"]["spec"]["template"]["spec"]["containers"],
            json::parse(R"([{"name": "node", "volumeMounts": [{"name": "volume-0", "mountPath": "/data"}]}])"));
}

TEST_F(KubernetesManifestTest, WhatKubernetesDoesNotKnowIsRefused) {
  Job job = pod_job();
  job.accelerator = "simulated";
  EXPECT_EQ(error_of(job),
            "how Kubernetes counts the devices of the accelerator simulated is not known; give --device-resource, such "
            "as amd.com/gpu");
  job.device_resource = "example.com/ipu";
  EXPECT_EQ(pod_in(jobset(job))["containers"][0]["resources"]["limits"]["example.com/ipu"], "2");
  job.accelerator = "cpu";
  EXPECT_FALSE(pod_in(jobset(job))["containers"][0]["resources"]["limits"].contains("example.com/ipu"));
  for (const char* name : {"1mlp", "mlp-", "a.b", "", "a\nb", "a234567890123456789012345678901234567890x"}) {
    job.name = name;
    EXPECT_THAT(error_of(job), HasSubstr("cannot be the name of a job in Kubernetes")) << name;
  }
}

}  // namespace
}  // namespace trainyard::tools::submit
