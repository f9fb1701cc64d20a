// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/submit/pod.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "core/keys/key.h"
#include "core/keys/key_file.h"
#include "messages/error.h"
#include "messages/printable.h"
#include "tools/trainyard/exit_codes.h"
#include "tools/trainyard/submit/hand_over.h"
#include "tools/trainyard/submit/shell_word.h"

namespace trainyard::tools::submit::pod {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestName = 40;
constexpr int kOnlyOwnerReads = 0400;
constexpr const char* kKeyVolume = "key";

bool is_label(std::string_view text, std::size_t longest) {
  const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !text.empty() && text.size() <= longest && std::ranges::all_of(text, allowed) && text.front() >= 'a' &&
         text.back() != '-';
}

/// Returns a word for the command of a container, which Kubernetes then leaves unchanged. Kubernetes replaces $(NAME)
/// by the value of a variable, and $$ by a dollar sign.
std::string literal(const std::string& word) {
  std::string text;
  for (std::size_t i = 0; i < word.size(); ++i) {
    text += word[i];
    if (word[i] == '$' && i + 1 < word.size() && (word[i + 1] == '(' || word[i + 1] == '$')) text += '$';
  }
  return text;
}

/// Returns the name of the Kubernetes resource for the devices of the accelerator.
std::string device_resource(const Job& job) {
  if (!job.device_resource.empty()) return job.device_resource;
  static const std::map<std::string, std::string> kKnown{{"cuda", "nvidia.com/gpu"}};
  const auto known = kKnown.find(job.accelerator);
  if (known != kKnown.end()) return known->second;
  throw Error(Code::kInvalidArgument,
              "how Kubernetes counts the devices of the accelerator {} is not known; give --device-resource, such as "
              "amd.com/gpu",
              job.accelerator);
}

/// Returns the name of a volume. It contains a number and not the name of the claim, because a claim can be mounted
/// twice.
std::string volume_name(std::size_t number) { return fmt::format("volume-{}", number); }

bool needs_secret(const Job& job) { return !job.key.empty() || job.makes_key(); }

/// Returns the kubectl command that creates an object. The caller appends the path of a manifest.
std::vector<std::string> create(const std::vector<std::string>& options) {
  std::vector<std::string> command{"kubectl", "create", "--request-timeout=60s"};
  command.insert(command.end(), options.begin(), options.end());
  command.emplace_back("--filename");
  return command;
}

/// Creates the job and then the Secret with the key, in this order, because an object must exist before it can own
/// another object. The pods wait for the Secret.
void create_with_key(const Job& job, const std::string& manifest, Json owner) {
  const std::string uid = hand_over_file(create({"--output=jsonpath={.metadata.uid}"}), manifest);
  if (uid.empty() || uid.find_first_not_of("0123456789abcdefABCDEF-") != uid.npos) {
    throw Error(Code::kIo, "kubectl did not answer with the uid of the job, but with: {}", printable_line(uid));
  }
  owner["uid"] = uid;
  std::printf("%s %s created\n", owner["kind"].get<std::string>().c_str(), name_of(job).c_str());
  std::printf("%s", printable(hand_over_file(create({}), new_secret(job, owner).dump())).c_str());
}

}  // namespace

std::string name_of(const Job& job) {
  std::string name = job.name;
  std::ranges::transform(name, name.begin(), [](char c) {
    return c == '_' ? '-' : static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  });
  if (is_label(name, kLongestName)) return name;
  throw Error(
      Code::kInvalidArgument,
      "'{}' cannot be the name of a job in Kubernetes; allowed with --name: letters, digits and '-', at most {}, "
      "beginning with a letter",
      printable_line(job.name), kLongestName);
}

std::string secret_of(const Job& job) { return name_of(job) + "-key"; }

Json object_of(const Job& job, const std::string& api_version, const std::string& kind) {
  Json object{{"apiVersion", api_version}, {"kind", kind}, {"metadata", {{"name", name_of(job)}}}};
  if (!job.name_space.empty()) object["metadata"]["namespace"] = job.name_space;
  if (!job.queue.empty()) object["metadata"]["labels"] = {{"kueue.x-k8s.io/queue-name", job.queue}};
  return object;
}

Json command_of(const Job& job) {
  Json words = Json::array();
  for (const std::string& word : job.command()) words.push_back(literal(word));
  // There is no script that knows whether the job has been restarted, so the run always gets the argument with which
  // the checkpoint writer looks for a checkpoint.
  if (!job.resume.empty()) words.push_back(literal(job.resume));
  return words;
}

Json resources_of(const Job& job) {
  Json needs{{"cpu", std::to_string(job.cpus)}};
  if (job.memory_mebibytes) needs["memory"] = fmt::format("{}Mi", *job.memory_mebibytes);
  if (job.devices() > 0) needs[device_resource(job)] = std::to_string(job.devices());
  return {{"requests", needs}, {"limits", needs}};
}

Json key_environment_of(const Job& job) {
  Json variables = Json::array();
  if (needs_secret(job)) variables.push_back({{"name", "TRAINYARD_KEY_FILE"}, {"value", kKeyFile}});
  return variables;
}

Json volumes_of(const Job& job) {
  Json volumes = Json::array();
  for (const Volume& volume : job.volumes) {
    volumes.push_back(
        {{"name", volume_name(volumes.size())}, {"persistentVolumeClaim", {{"claimName", volume.claim}}}});
  }
  if (needs_secret(job)) {
    volumes.push_back(
        {{"name", kKeyVolume}, {"secret", {{"secretName", secret_of(job)}, {"defaultMode", kOnlyOwnerReads}}}});
  }
  return volumes;
}

Json mounts_of(const Job& job) {
  Json mounts = Json::array();
  for (const Volume& volume : job.volumes) {
    mounts.push_back({{"name", volume_name(mounts.size())}, {"mountPath", volume.path}});
  }
  if (needs_secret(job))
    mounts.push_back({{"name", kKeyVolume}, {"mountPath", kKeyFile}, {"subPath", "key"}, {"readOnly", true}});
  return mounts;
}

Json security_of(const Job& job) {
  constexpr int kGroup = 1000;
  if (needs_secret(job)) return {{"runAsUser", 0}};
  if (!job.volumes.empty()) return {{"fsGroup", kGroup}, {"fsGroupChangePolicy", "OnRootMismatch"}};
  return nullptr;
}

Json new_secret(const Job& job, const Json& owner) {
  Json metadata{{"name", secret_of(job)}, {"ownerReferences", Json::array({owner})}};
  if (!job.name_space.empty()) metadata["namespace"] = job.name_space;
  return {{"apiVersion", "v1"},
          {"kind", "Secret"},
          {"metadata", metadata},
          {"type", "Opaque"},
          {"immutable", true},
          {"stringData", {{"key", core::key_file_text(core::Key::make("job", core::Role::kMember))}}}};
}

int apply(const Job& job, const std::string& manifest, const std::string& api_version, const std::string& kind) {
  const std::string space = job.name_space.empty() ? "" : "--namespace=" + shell_word(job.name_space) + " ";
  require_program("kubectl");
  if (!job.key.empty()) {
    std::fprintf(stderr,
                 "note: the pods wait until the Secret %s exists. To make it:\n"
                 "  kubectl %screate secret generic %s --from-file=key=%s\n",
                 secret_of(job).c_str(), space.c_str(), secret_of(job).c_str(), shell_word(job.key).c_str());
  }
  if (job.makes_key()) {
    create_with_key(job, manifest, {{"apiVersion", api_version}, {"kind", kind}, {"name", name_of(job)}});
  } else {
    std::printf("%s", printable(hand_over_file(create({}), manifest)).c_str());
  }
  std::printf("  its output   kubectl %slogs --follow --selector=jobset.sigs.k8s.io/jobset-name=%s\n", space.c_str(),
              name_of(job).c_str());
  return kExitOk;
}

}  // namespace trainyard::tools::submit::pod
