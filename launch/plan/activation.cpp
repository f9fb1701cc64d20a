#include "launch/plan/activation.h"

#include <set>
#include <tuple>

namespace trainyard {
namespace {

/// What a component has to do with those that are not active yet.
struct Node {
  std::set<std::uint32_t> receivers;       ///< Of anything.
  std::set<std::uint32_t> data_receivers;  ///< Of data.
  std::set<std::uint32_t> data_senders;
  bool source = false;  ///< It sends data, and nobody, active or not, sends any to it.
  bool active = false;

  /// The greatest goes first.
  auto urgency() const {
    const auto balance = static_cast<long>(data_senders.size()) - static_cast<long>(data_receivers.size());
    return std::tuple(!active, !source, receivers.empty(), data_receivers.empty(), balance);
  }
};

std::vector<Node> make_graph(std::size_t components, const std::vector<Link>& links) {
  std::vector<Node> nodes(components);
  for (const Link& link : links) {
    if (link.from == link.to) continue;
    nodes[link.from].receivers.insert(link.to);
    if (link.run_wide) continue;
    nodes[link.from].data_receivers.insert(link.to);
    nodes[link.to].data_senders.insert(link.from);
  }
  for (Node& node : nodes) node.source = node.data_senders.empty() && !node.data_receivers.empty();
  return nodes;
}

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

}  // namespace trainyard
