// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/trainyard/submit/job.h"

// The parts that a JobSet and a TrainJob of Kubernetes have in common. All functions return values of a manifest, and
// throw kInvalidArgument for what Kubernetes does not allow.
namespace trainyard::tools::submit::pod {

/// The path at which the container sees the key of the run. Only the file is mounted and not the folder of the Secret,
/// because that folder consists of links and everybody may write to it.
inline constexpr const char* kKeyFile = "/etc/trainyard/key";

/// Returns the name of the job in a form that Kubernetes allows: lower-case letters, digits and '-'. It has at most 40
/// characters, so that the names of the pods are not too long.
std::string name_of(const Job& job);

/// Returns the name of the Secret that must contain the key of the run.
std::string secret_of(const Job& job);

/// Returns the fields `kind`, `apiVersion` and `metadata` of the Kubernetes object for the job.
nlohmann::ordered_json object_of(const Job& job, const std::string& api_version, const std::string& kind);

/// Returns the command of the container, escaped so that Kubernetes does not expand variables in it.
nlohmann::ordered_json command_of(const Job& job);

/// Returns the resources that the container needs: processors, memory and devices.
nlohmann::ordered_json resources_of(const Job& job);

/// Returns the environment variable with the path of the key file, as a list; the list is empty if there is no key.
nlohmann::ordered_json key_environment_of(const Job& job);

/// Returns the volumes of the pod and the paths at which the container sees them; the lists are empty if there are no
/// volumes.
nlohmann::ordered_json volumes_of(const Job& job);
nlohmann::ordered_json mounts_of(const Job& job);

/// Returns the user and the group of the pod's processes, or null if the container image determines them. With a key,
/// the user is root, because the files of a Secret belong to root and must not be readable for a group. Without a key
/// but with volumes, a group is set so that the volumes are writable.
nlohmann::ordered_json security_of(const Job& job);

/// Returns a Secret with a new key for the job. `owner` is a reference to the Kubernetes object for the job. It becomes
/// the owner of the Secret, so Kubernetes removes the Secret together with the job.
nlohmann::ordered_json new_secret(const Job& job, const nlohmann::ordered_json& owner);

/// Passes the manifest of an object of this version and kind to kubectl, and prints the answer of kubectl. If a new key
/// must be made for the job, also creates the Secret with it. If the user has specified a key file, prints how to
/// create the Secret from it. Returns an exit code.
int apply(const Job& job, const std::string& manifest, const std::string& api_version, const std::string& kind);

}  // namespace trainyard::tools::submit::pod
