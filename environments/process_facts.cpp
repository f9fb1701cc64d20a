// SPDX-License-Identifier: Apache-2.0
#include "environments/process_facts.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <fstream>
#include <iterator>
#include <memory>

extern char** environ;

namespace trainyard::environments {
namespace {

constexpr std::size_t kLargestFile = 1 << 20;
// How many ancestors are examined. The limit also rules out an endless loop.
constexpr int kMostAncestors = 64;

ProcessFacts::Variables all_variables() {
  ProcessFacts::Variables variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t end = text.find('=');
    if (end != std::string::npos) variables[text.substr(0, end)] = text.substr(end + 1);
  }
  return variables;
}

std::string own_host_name() {
  std::array<char, 256> name = {};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

/// Returns the address as text, or an empty text if it is neither an IPv4 nor an IPv6 address.
std::string text_of(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  const void* bytes = nullptr;
  if (address.sa_family == AF_INET) bytes = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  if (address.sa_family == AF_INET6) bytes = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  if (bytes == nullptr) return "";
  return ::inet_ntop(address.sa_family, bytes, text.data(), text.size()) != nullptr ? text.data() : "";
}

std::vector<std::string> own_addresses() {
  std::vector<std::string> addresses;
  ifaddrs* first = nullptr;
  if (::getifaddrs(&first) != 0) return addresses;
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(first, &::freeifaddrs);
  for (const ifaddrs* entry = first; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr || (entry->ifa_flags & IFF_LOOPBACK) != 0) continue;
    if (std::string text = text_of(*entry->ifa_addr); !text.empty()) addresses.push_back(std::move(text));
  }
  return addresses;
}

/// What is needed from /proc/PID/stat, which begins with the pid, the name in parentheses, the state and the pid of the
/// parent: "12 (name with ) in it) S 1 ...".
struct Process {
  std::string name;
  long parent = 0;
};

std::optional<Process> look_up(long pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return {};
  const std::size_t begin = text.find('('), end = text.rfind(')');
  if (begin == std::string::npos || end == std::string::npos || end + 4 >= text.size()) return {};
  return Process{text.substr(begin + 1, end - begin - 1), std::strtol(text.c_str() + end + 4, nullptr, 10)};
}

std::vector<std::string> own_ancestors() {
  std::vector<std::string> names;
  long pid = ::getppid();
  for (int i = 0; i < kMostAncestors && pid > 0; ++i) {
    const std::optional<Process> process = look_up(pid);
    if (!process) break;
    names.push_back(process->name);
    pid = process->parent;
  }
  return names;
}

std::optional<std::string> read_small_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return {};
  std::string text(kLargestFile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || file.gcount() > static_cast<std::streamsize>(kLargestFile)) return {};
  text.resize(static_cast<std::size_t>(file.gcount()));
  return text;
}

}  // namespace

ProcessFacts facts_of_this_process() {
  return {all_variables(), own_host_name(), own_addresses(), own_ancestors(), read_small_file};
}

}  // namespace trainyard::environments
