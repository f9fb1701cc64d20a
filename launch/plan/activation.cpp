#include "launch/plan/activation.h"

#include <set>

namespace trainyard {
namespace {

/// The neighbours of a component among those that are not active yet.
struct Node {
  std::set<std::uint32_t> senders;
  std::set<std::uint32_t> receivers;
  bool active = false;

  /// Receives most and sends least: high.
  long rank() const { return static_cast<long>(senders.size()) - static_cast<long>(receivers.size()); }
};

std::vector<Node> make_graph(std::size_t components, const std::vector<EdgePlan>& edges) {
  std::vector<Node> nodes(components);
  for (const EdgePlan& edge : edges) {
    if (edge.from == edge.to) continue;
    nodes[edge.to].senders.insert(edge.from);
    nodes[edge.from].receivers.insert(edge.to);
  }
  return nodes;
}

std::uint32_t choose(const std::vector<Node>& nodes) {
  std::uint32_t best = 0;
  const auto better = [](const Node& a, const Node& b) {
    if (a.receivers.empty() != b.receivers.empty()) return a.receivers.empty();
    return a.rank() > b.rank();
  };
  for (std::uint32_t i = 1; i < nodes.size(); ++i) {
    if (!nodes[i].active && (nodes[best].active || better(nodes[i], nodes[best]))) best = i;
  }
  return best;
}

}  // namespace

std::vector<std::uint32_t> activation_order(std::size_t components, const std::vector<EdgePlan>& edges) {
  std::vector<Node> nodes = make_graph(components, edges);
  std::vector<std::uint32_t> order;
  while (order.size() < components) {
    const std::uint32_t next = choose(nodes);
    nodes[next].active = true;
    for (const std::uint32_t sender : nodes[next].senders) nodes[sender].receivers.erase(next);
    for (const std::uint32_t receiver : nodes[next].receivers) nodes[receiver].senders.erase(next);
    order.push_back(next);
  }
  return order;
}

}  // namespace trainyard
