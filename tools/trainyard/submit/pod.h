// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/trainyard/submit/job.h"

// The parts that the manifests of a JobSet and of a TrainJob for Kubernetes have in common. The functions return values
// for a manifest. They throw kInvalidArgument if Kubernetes would not accept a value.
namespace trainyard::tools::submit::pod {

/// The path in the container at which the key file is mounted. The hosts of the run authenticate each other with this
/// key. The file itself is mounted rather than the folder of the Secret, because that folder consists of links and
/// everybody may write to it.
inline constexpr const char* kKeyFile = "/etc/trainyard/key";

/// Returns the name of the job in a form that Kubernetes allows: lower-case letters, digits and '-'. It has at most 40
/// characters, so that the names of the pods are not too long.
std::string name_of(const Job& job);

/// Returns the name of the Secret that must contain the key of the run.
std::string secret_of(const Job& job);

/// Returns the fields `kind`, `apiVersion` and `metadata` of the Kubernetes object for the job.
nlohmann::ordered_json object_of(const Job& job, const std::string& api_version, const std::string& kind);

/// Returns the command that the container runs, escaped so that Kubernetes does not expand variables in it.
nlohmann::ordered_json command_of(const Job& job);

/// Returns the resources that the container needs: processors, memory and devices.
nlohmann::ordered_json resources_of(const Job& job);

/// Returns a list with the environment variable that contains the path of the key file. The list is empty if there is
/// no key.
nlohmann::ordered_json key_environment_of(const Job& job);

/// Return the volumes of the pod, and the paths at which they are mounted in the container. The lists are empty if
/// there are no volumes.
nlohmann::ordered_json volumes_of(const Job& job);
nlohmann::ordered_json mounts_of(const Job& job);

/// Returns the security context of the pod, which sets the user and the group of its processes, or null if the
/// container image determines them. With a key, the user is root, because the files of a Secret belong to root, and a
/// key file must not be readable by a group. Without a key but with volumes, a group is set so that the volumes are
/// writable.
nlohmann::ordered_json security_of(const Job& job);

/// Returns a Secret with a new key for the job. `owner` is a reference to the Kubernetes object for the job. It becomes
/// the owner of the Secret, so Kubernetes removes the Secret together with the job.
nlohmann::ordered_json new_secret(const Job& job, const nlohmann::ordered_json& owner);

/// Uses kubectl to create the object that the manifest describes, and prints kubectl's answer. `api_version` and `kind`
/// are those of the object. If a new key must be made for the job, also creates the Secret with this key. If the user
/// has specified a key file, prints how to create the Secret from the file. Returns the exit code of `trainyard
/// submit`.
int apply(const Job& job, const std::string& manifest, const std::string& api_version, const std::string& kind);

}  // namespace trainyard::tools::submit::pod
