// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/trainyard/submit/job.h"

// The parts that a JobSet and a TrainJob of Kubernetes have in common. All functions return values of a manifest, and
// throw kInvalidArgument for what Kubernetes does not allow.
namespace trainyard::tools::submit::pod {

/// The path of the key file in the container. Only this file is mounted and not the folder of the Secret, because that
/// folder consists of links and everybody may write to it.
inline constexpr const char* kKeyFile = "/etc/trainyard/key";

/// Returns the name of the job as Kubernetes allows it: small letters, digits and '-', at most 40 characters, so that
/// the names of its pods are not too long.
std::string name_of(const Job& job);

/// Returns the name of the Secret that must contain the key of the run.
std::string secret_of(const Job& job);

/// Returns `kind`, `apiVersion` and `metadata` of the job's object.
nlohmann::ordered_json object_of(const Job& job, const std::string& api_version, const std::string& kind);

/// Returns the command of the container, written so that Kubernetes replaces no variables in it.
nlohmann::ordered_json command_of(const Job& job);

/// Returns the resources that the container needs: processors, memory and devices.
nlohmann::ordered_json resources_of(const Job& job);

/// Returns the variable that names the file with the key; an empty list if there is no key.
nlohmann::ordered_json key_environment_of(const Job& job);

/// Returns the volumes of the pod, and where the container sees them; empty lists if there are none.
nlohmann::ordered_json volumes_of(const Job& job);
nlohmann::ordered_json mounts_of(const Job& job);

/// Returns the user and the group of the pod's processes; null if the image alone decides. With a key, the user is
/// root: the files of a Secret belong to root, and a key that a group can read is refused. Without a key, a group is
/// set, so that volumes are writable.
nlohmann::ordered_json security_of(const Job& job);

/// Returns the Secret with a new key for the job. It belongs to the job's object, so Kubernetes removes it with the
/// job. `owner` is a reference to this object.
nlohmann::ordered_json new_secret(const Job& job, const nlohmann::ordered_json& owner);

/// Passes the manifest of an object of this version and kind to kubectl, and prints the answer. If the job makes its
/// own key, also passes the Secret; otherwise prints how to make the Secret. Returns an exit code.
int apply(const Job& job, const std::string& manifest, const std::string& api_version, const std::string& kind);

}  // namespace trainyard::tools::submit::pod
