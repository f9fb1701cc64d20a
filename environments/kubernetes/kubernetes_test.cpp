// SPDX-License-Identifier: Apache-2.0
#include "environments/kubernetes/kubernetes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "environments/testing/facts.h"

namespace trainyard {
namespace {

using testing::changed;
using ::testing::ElementsAre;
using testing::facts_with;
using ::testing::IsEmpty;

/// Returns the facts of a pod of a JobSet whose manifest sets all variables that the environment uses.
ProcessFacts pod() {
  return facts_with({{"KUBERNETES_SERVICE_HOST", "10.96.0.1"},
                     {"JOB_COMPLETION_INDEX", "1"},
                     {"TRAINYARD_HOST_COUNT", "3"},
                     {"TRAINYARD_MEET_AT", "run-workers-0-0.run"},
                     {"TRAINYARD_RESTARTS", "2"}},
                    "run-workers-0-1");
}

TEST(KubernetesTest, APodIsAHostAndKnowsTheNamesOfTheOthers) {
  const testing::UnderTest<Kubernetes> kubernetes;
  EXPECT_TRUE(kubernetes.detect(pod()).found);
  const Allocation allocation = kubernetes.allocation(pod());
  EXPECT_EQ(allocation.host, 1u);
  EXPECT_EQ(allocation.hosts, 3u);
  EXPECT_THAT(allocation.names, ElementsAre("run-workers-0-0.run", "run-workers-0-1.run", "run-workers-0-2.run"));
  EXPECT_EQ(allocation.meeting->host, "run-workers-0-0.run");
  EXPECT_EQ(allocation.meeting->ports.size(), 16u);
  EXPECT_EQ(allocation.restarts, 2u);
  EXPECT_TRUE(allocation.restarts_failures);
}

TEST(KubernetesTest, NamesThatFollowAnotherRuleAreNotGuessed) {
  ProcessFacts facts = pod();
  facts.host_name = "web-1";
  EXPECT_THAT(testing::UnderTest<Kubernetes>().allocation(facts).names, IsEmpty());
  EXPECT_THAT(testing::UnderTest<Kubernetes>().allocation(changed(pod(), {{"TRAINYARD_MEET_AT", "10.0.0.1:80"}})).names,
              IsEmpty());
}

TEST(KubernetesTest, WithoutANumberOfPodsTheErrorSaysWhatToAddToTheManifest) {
  EXPECT_EQ(
      testing::UnderTest<Kubernetes>().error(changed(pod(), {{"TRAINYARD_HOST_COUNT", ""}})),
      "engine: Kubernetes does not tell a pod how many pods its Job has; set TRAINYARD_HOST_COUNT in the manifest, "
      "to the same number as `completions`");
  EXPECT_EQ(testing::UnderTest<Kubernetes>().error(changed(pod(), {{"TRAINYARD_HOST_COUNT", "1"}})),
            "engine: JOB_COMPLETION_INDEX is '1'; allowed: a whole number from 0 to 0");
}

TEST(KubernetesTest, AnyOtherPodIsNotDetected) {
  const testing::UnderTest<Kubernetes> kubernetes;
  EXPECT_EQ(kubernetes.detect(changed(pod(), {{"JOB_COMPLETION_INDEX", ""}})).reason,
            "JOB_COMPLETION_INDEX is not set, so this is not a pod of an indexed Job");
  EXPECT_FALSE(kubernetes.detect(changed(pod(), {{"KUBERNETES_SERVICE_HOST", ""}})).found);
}

}  // namespace
}  // namespace trainyard
