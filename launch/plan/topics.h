#pragma once

#include <map>
#include <string>
#include <vector>

#include "launch/plan/draft.h"

namespace trainyard::launch {

/// An output or input of a draft.
struct PortRef {
  const Draft* draft = nullptr;
  const core::PortInfo* port = nullptr;

  const std::string& topic() const { return draft->plan.topics.at(port->name); }
  std::string text() const { return draft->plan.name + "." + port->name; }

  /// Where the launch file says so: the remap of this port, otherwise the component.
  const Origin& origin() const;
};

/// All outputs, by topic.
using Senders = std::map<std::string, std::vector<PortRef>>;

/// Fills in the topic of every port: its remap or default, below the rank and the namespace unless it starts with '/'.
/// Throws, with the place in the file, for remaps of ports that do not exist and for bad topic names.
void name_topics(std::vector<Draft>& drafts);

/// Returns all senders of every topic. Throws kTypeMismatch if outputs of different types share a topic.
Senders find_senders(const std::vector<Draft>& drafts);

/// Connects inputs that nobody sends to across the border between ranks and the rest: a component made per rank hears
/// those that are not, and a component made once hears rank 0 (and the others, see topics_heard). Does nothing for a
/// single rank.
void bridge_ranks(std::vector<Draft>& drafts, const Senders& senders);

/// Returns the topics that an input hears: its own and, if it wants to hear every rank and was connected to rank 0, the
/// same topic of the other ranks.
std::vector<std::string> topics_heard(const PortRef& input);

}  // namespace trainyard::launch
