// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/activation.h"

#include <set>
#include <tuple>

namespace trainyard::launch {
namespace {

/// The connections of a component with components that are not active yet.
struct Node {
  std::set<std::uint32_t> receivers;       ///< The components that receive messages from this component.
  std::set<std::uint32_t> data_receivers;  ///< The components that receive data from it.
  std::set<std::uint32_t> data_senders;
  bool source = false;  ///< True if it sends data and no component, active or not, sends data to it.
  bool active = false;

  /// The component with the greatest value, compared element by element, is chosen next. Active components are never
  /// chosen again, and sources come last. Components whose receivers are all active come first, then components whose
  /// receivers of data are all active. If there are none, because the data flows in a cycle, the component whose
  /// senders outnumber its receivers the most is chosen.
  auto urgency() const {
    const auto balance = static_cast<long>(data_senders.size()) - static_cast<long>(data_receivers.size());
    return std::tuple(!active, !source, receivers.empty(), data_receivers.empty(), balance);
  }
};

std::vector<Node> make_graph(std::size_t components, const std::vector<Link>& links) {
  std::vector<Node> nodes(components);
  for (const Link& link : links) {
    // A component that sends to itself does not have to wait for itself.
    if (link.from == link.to) continue;
    nodes[link.from].receivers.insert(link.to);
    if (link.run_wide) continue;
    nodes[link.from].data_receivers.insert(link.to);
    nodes[link.to].data_senders.insert(link.from);
  }
  // Sources are determined first, because senders are removed from the lists when they become active.
  for (Node& node : nodes) node.source = node.data_senders.empty() && !node.data_receivers.empty();
  return nodes;
}

/// Returns the next component. Of equal components, the one with the lowest index is chosen.
std::uint32_t choose(const std::vector<Node>& nodes) {
  std::uint32_t best = 0;
  for (std::uint32_t i = 1; i < nodes.size(); ++i) {
    if (nodes[i].urgency() > nodes[best].urgency()) best = i;
  }
  return best;
}

}  // namespace

std::vector<std::uint32_t> activation_order(std::size_t components, const std::vector<Link>& links) {
  std::vector<Node> nodes = make_graph(components, links);
  std::vector<std::uint32_t> order;
  // The time is quadratic in the number of components, which is acceptable because there are only dozens.
  while (order.size() < components) {
    const std::uint32_t next = choose(nodes);
    nodes[next].active = true;
    for (Node& node : nodes) {
      node.receivers.erase(next);
      node.data_receivers.erase(next);
      node.data_senders.erase(next);
    }
    order.push_back(next);
  }
  return order;
}

}  // namespace trainyard::launch
