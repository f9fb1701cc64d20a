// SPDX-License-Identifier: Apache-2.0
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

  /// Returns the place in the launch file: that of the remap of this port, otherwise that of the component.
  const Origin& origin() const;
};

/// All outputs, by topic.
using Senders = std::map<std::string, std::vector<PortRef>>;

/// Fills in the topic of every port: the remap or the default, with the rank and the namespace in front unless it
/// starts with '/'. Throws, with the place in the file, for remaps of ports that do not exist and for bad topic names.
void name_topics(std::vector<Draft>& drafts);

/// Returns all senders of every topic. Throws kTypeMismatch if outputs of different types share a topic.
Senders find_senders(const std::vector<Draft>& drafts);

/// Connects inputs without a sender between ranks and the other components: a component made per rank receives from
/// those that are not, and a component made once receives from rank 0 (and from the others, see topics_heard). Does
/// nothing for a single rank.
void bridge_ranks(std::vector<Draft>& drafts, const Senders& senders);

/// Returns the topics that an input receives: its own and, if it has `every_rank` and was connected to rank 0, the same
/// topic of the other ranks.
std::vector<std::string> topics_heard(const PortRef& input);

}  // namespace trainyard::launch
