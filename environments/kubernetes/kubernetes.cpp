// SPDX-License-Identifier: Apache-2.0
#include "environments/kubernetes/kubernetes.h"

#include <signal.h>

#include "environments/kubernetes/pod_names.h"
#include "environments/meeting_address.h"
#include "environments/variable_reader.h"

namespace trainyard {

using environments::VariableReader;

Detection Kubernetes::detect(const ProcessFacts& facts) const {
  const VariableReader variables(facts, where());
  if (!variables.has("KUBERNETES_SERVICE_HOST")) return {false, "KUBERNETES_SERVICE_HOST is not set"};
  if (!variables.has("JOB_COMPLETION_INDEX")) {
    return {false, "JOB_COMPLETION_INDEX is not set, so this is not a pod of an indexed Job"};
  }
  return {true, fmt::format("JOB_COMPLETION_INDEX is {}",
                            environments::shown(variables.text("JOB_COMPLETION_INDEX"), false))};
}

Allocation Kubernetes::allocation(const ProcessFacts& facts) const {
  const VariableReader variables(facts, where());
  if (!variables.has("TRAINYARD_HOST_COUNT")) {
    throw Error(
        Code::kNotFound,
        "{}: Kubernetes does not tell a pod how many pods its Job has; set TRAINYARD_HOST_COUNT in the manifest, "
        "to the same number as `completions`",
        where());
  }
  Allocation allocation;
  allocation.hosts = variables.required_count("TRAINYARD_HOST_COUNT");
  allocation.host = variables.required_index("JOB_COMPLETION_INDEX", allocation.hosts);
  if (variables.has("TRAINYARD_MEET_AT")) {
    allocation.meeting =
        environments::parse_meeting_address(variables.text("TRAINYARD_MEET_AT"), where(), "TRAINYARD_MEET_AT");
    allocation.names =
        kubernetes::pod_names(allocation.meeting->host, facts.host_name, allocation.host, allocation.hosts);
    allocation.job = allocation.meeting->host;
  }
  if (variables.has("TRAINYARD_JOB")) allocation.job = variables.text("TRAINYARD_JOB");
  allocation.restarts = variables.number("TRAINYARD_RESTARTS", 0, 1'000'000).value_or(0);
  allocation.restarts_failures = true;
  // Kubernetes sends SIGKILL after terminationGracePeriodSeconds, which is 30 unless the manifest changes it.
  allocation.stop.signals = {SIGTERM};
  allocation.stop.grace = std::chrono::seconds(30);
  return allocation;
}

}  // namespace trainyard

TRAINYARD_ENVIRONMENT(trainyard::Kubernetes, "kubernetes", "Kubernetes: the pods of an indexed Job or a JobSet.")
