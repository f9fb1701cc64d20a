// SPDX-License-Identifier: Apache-2.0
#include "core/transport/descriptor_budget.h"

#include <sys/resource.h>

#include <filesystem>
#include <system_error>

namespace trainyard::core {
namespace {

/// How long a count is trusted.
constexpr std::chrono::milliseconds kCountAge{200};

/// Returns how many descriptors this process may still open.
std::size_t descriptors_left() {
  rlimit limit{};
  std::error_code error;
  std::filesystem::directory_iterator file("/proc/self/fd", error);
  if (error || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  std::size_t open = 0;
  for (; !error && file != std::filesystem::directory_iterator(); file.increment(error)) ++open;
  return limit.rlim_cur > open ? static_cast<std::size_t>(limit.rlim_cur) - open : 0;
}

}  // namespace

bool DescriptorBudget::take(std::size_t spare) {
  const auto now = std::chrono::steady_clock::now();
  if (left_ == 0 || now > counted_ + kCountAge) {
    counted_ = now;
    const std::size_t left = descriptors_left();
    left_ = left > spare ? (left - spare) / each_ : 0;
  }
  if (left_ == 0) return false;
  --left_;
  return true;
}

}  // namespace trainyard::core
