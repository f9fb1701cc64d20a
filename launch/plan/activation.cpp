#include "launch/plan/activation.h"

#include <set>
#include <tuple>

namespace trainyard::launch {
namespace {

/// What a component has to do with those that are not active yet.
struct Node {
  std::set<std::uint32_t> receivers;       ///< Of anything.
  std::set<std::uint32_t> data_receivers;  ///< Of data.
  std::set<std::uint32_t> data_senders;
  bool source = false;  ///< It sends data, and nobody, active or not, sends any to it.
  bool active = false;

  /// The greatest goes first.
  /// Compared part by part. Not active comes first, since an active one is never chosen again; then sources wait for
  /// all others; then whoever has nobody left to wait for at all; then nobody left that gets data; then, in a ring of
  /// data, the one with more senders than receivers.
  auto urgency() const {
    const auto balance = static_cast<long>(data_senders.size()) - static_cast<long>(data_receivers.size());
    return std::tuple(!active, !source, receivers.empty(), data_receivers.empty(), balance);
  }
};

std::vector<Node> make_graph(std::size_t components, const std::vector<Link>& links) {
  std::vector<Node> nodes(components);
  for (const Link& link : links) {
    // Whoever sends to himself need not wait for himself.
    if (link.from == link.to) continue;
    nodes[link.from].receivers.insert(link.to);
    if (link.run_wide) continue;
    nodes[link.from].data_receivers.insert(link.to);
    nodes[link.to].data_senders.insert(link.from);
  }
  // Fixed before anything is active: a component does not become a source because its senders were activated.
  for (Node& node : nodes) node.source = node.data_senders.empty() && !node.data_receivers.empty();
  return nodes;
}

/// Strictly greater: of equals the lower index wins.
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
  // Quadratic in the number of components, of which there are dozens.
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
