// SPDX-License-Identifier: Apache-2.0
#include "visitors/bottleneck.h"

#include <algorithm>
#include <map>

namespace trainyard::visitors {
namespace {

constexpr const char* kHost = "accelerator_host";

/// If a rank waits for other ranks by at most this share more than the rank that waits least, it counts as equally
/// slow.
constexpr double kSameWaiting = 0.1;
/// A component that is busy for this share of the time has no reserve.
constexpr double kSaturated = 0.85;
/// A component that holds up the run for a smaller share of the time is not named.
constexpr double kLeastShare = 0.1;
/// A component is named only if its share is at least this fraction of the largest share.
constexpr double kAsGood = 0.5;

bool is_for_ranks(const ComponentShares::Share& share) { return share.kind == "rank" || share.kind == "ranks"; }

double waiting_for_ranks(const ComponentShares& shares) {
  double sum = 0;
  for (const ComponentShares::Share& share : shares.waiting) sum += is_for_ranks(share) ? share.share : 0;
  return sum;
}

class Search {
 public:
  explicit Search(const ObservedRun& run) : run_(run) {}

  std::vector<Bottleneck> run() {
    const std::vector<const ObservedComponent*> hosts = slowest_hosts();
    for (const ObservedComponent* host : hosts) {
      blame(*host, 1.0, {});
      add_saturated(*host);
    }
    return named();
  }

 private:
  using Path = std::vector<const ObservedComponent*>;

  const ObservedComponent* find(const std::string& name) const {
    const auto found = std::ranges::find(run_.components, name, &ObservedComponent::name);
    return found == run_.components.end() ? nullptr : &*found;
  }

  std::vector<const ObservedComponent*> slowest_hosts() const {
    std::vector<const ObservedComponent*> hosts;
    double least = 1.0;
    for (const ObservedComponent& component : run_.components) {
      if (component.plugin != kHost || component.shares.seconds <= 0) continue;
      hosts.push_back(&component);
      least = std::min(least, waiting_for_ranks(component.shares));
    }
    std::erase_if(
        hosts, [&](const ObservedComponent* host) { return waiting_for_ranks(host->shares) > least + kSameWaiting; });
    return hosts;
  }

  /// Distributes `time`, a share of the host's time, over the components that caused it: over `component` itself as far
  /// as it was busy, and over the components for which it waited. Idle time counts for no component. `path` contains
  /// the components that wait, directly or indirectly, for `component`.
  void blame(const ObservedComponent& component, double time, Path path) {
    const ComponentShares& shares = component.shares;
    if (std::ranges::find(path, &component) != path.end()) return;
    const bool is_host = path.empty();
    path.push_back(&component);
    // While others wait for this component, it does not wait for them, so only the rest of its time is considered. It
    // cannot hold up others for longer than it was busy: if two components wait for each other, messages are under way.
    const double free = 1.0 - waiting_on(component, path);
    if (free <= 0) return;
    const double scale = is_host ? time : std::min(time / free, 1.0);
    add(component.name, shares.busy * scale);
    for (const ComponentShares::Share& share : shares.waiting) {
      if (is_for_ranks(share)) continue;
      const ObservedComponent* target = target_of(component, share);
      if (target == nullptr) {
        if (is_host && share.kind == "device") add(component.name, share.share * scale);
        continue;
      }
      if (std::ranges::find(path, target) == path.end()) blame(*target, share.share * scale, path);
    }
  }

  /// Returns the share of the time in which the component waits for components on the path.
  double waiting_on(const ObservedComponent& component, const Path& path) const {
    double sum = 0;
    for (const ComponentShares::Share& share : component.shares.waiting) {
      if (std::ranges::find(path, target_of(component, share)) != path.end()) sum += share.share;
    }
    return sum;
  }

  /// Returns the component for which `component` waits. If it waits for its turn on a thread, this is the busiest other
  /// component on that thread. Returns nullptr for other ranks and for causes that are not components.
  const ObservedComponent* target_of(const ObservedComponent& component, const ComponentShares::Share& share) const {
    if (is_for_ranks(share)) return nullptr;
    if (share.kind != "thread") return find(share.target);
    const ObservedComponent* busiest = nullptr;
    for (const ObservedComponent& other : run_.components) {
      if (&other == &component || other.thread != component.thread) continue;
      if (busiest == nullptr || other.shares.busy > busiest->shares.busy) busiest = &other;
    }
    return busiest;
  }

  void add_saturated(const ObservedComponent& host) {
    for (const auto& [from, to] : run_.blocking_edges) {
      const ObservedComponent* sender = to == host.name ? find(from) : nullptr;
      if (sender == nullptr || sender->thread == host.thread || sender->shares.busy < kSaturated) continue;
      double& share = found_[sender->name];
      share = std::max(share, sender->shares.busy);
    }
  }

  void add(const std::string& name, double share) {
    if (share > 0) sums_[name] += share;
  }

  std::vector<Bottleneck> named() {
    for (const auto& [name, share] : sums_) found_[name] = std::min(std::max(found_[name], share), 1.0);
    double largest = 0;
    for (const auto& [name, share] : found_) largest = std::max(largest, share);
    std::vector<Bottleneck> all;
    for (const auto& [name, share] : found_) {
      if (share >= std::max(kAsGood * largest, kLeastShare)) all.push_back({name, share});
    }
    std::ranges::stable_sort(all, std::ranges::greater(), &Bottleneck::share);
    return all;
  }

  const ObservedRun& run_;
  std::map<std::string, double> sums_;
  std::map<std::string, double> found_;
};

}  // namespace

std::vector<Bottleneck> find_bottlenecks(const ObservedRun& run) { return Search(run).run(); }

}  // namespace trainyard::visitors
