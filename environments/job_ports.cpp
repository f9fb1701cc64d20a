// SPDX-License-Identifier: Apache-2.0
#include "environments/job_ports.h"

namespace trainyard::environments {
namespace {

constexpr std::uint32_t kCount = 16;
// These ports are above those of most services, and below the ephemeral ports of Linux and the node ports of
// Kubernetes.
constexpr std::uint32_t kFirst = 20000;
constexpr std::uint32_t kLast = 29999;

/// Computes the FNV-1a hash. std::hash would not do, because it may differ between two hosts.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash ^ (hash >> 32);
}

}  // namespace

std::vector<std::uint16_t> ports_of_job(std::string_view job) {
  constexpr std::uint32_t kGroups = (kLast - kFirst + 1) / kCount;
  return ports_from(kFirst + static_cast<std::uint32_t>(hash_of(job) % kGroups) * kCount);
}

std::vector<std::uint16_t> ports_from(std::uint32_t first) {
  std::vector<std::uint16_t> ports;
  for (std::uint32_t port = first; port < first + kCount && port <= 65535; ++port) {
    ports.push_back(static_cast<std::uint16_t>(port));
  }
  return ports;
}

}  // namespace trainyard::environments
