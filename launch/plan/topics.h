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

  /// Where the launch file says so: the remap of this port, else the component.
  const Origin& origin() const;
};

/// All outputs by topic.
using Senders = std::map<std::string, std::vector<PortRef>>;

/// Fills in the topic of every port: its remap or default, below the rank and the namespace unless it starts with '/'.
/// Throws, with the place in the file, for remaps of ports that do not exist and for bad topic names.
void name_topics(std::vector<Draft>& drafts);

/// Throws kTypeMismatch if outputs of different types share a topic.
Senders find_senders(const std::vector<Draft>& drafts);

/// Points inputs that nobody sends to at the other side of the rank border: a component made per rank hears those that
/// are not, and one made once hears rank 0 (and the others, see topics_heard). Does nothing for a single rank.
void bridge_ranks(std::vector<Draft>& drafts, const Senders& senders);

/// What an input is connected to: its topic, and for one that wants to hear every rank and has been pointed at rank 0
/// the same topic of the others, too.
std::vector<std::string> topics_heard(const PortRef& input);

}  // namespace trainyard::launch
