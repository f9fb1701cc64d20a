// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "launch/plan/draft.h"

namespace trainyard::launch {

/// A reference to an output or an input of a draft, which is a component while it is being planned.
struct PortRef {
  const Draft* draft = nullptr;
  const core::PortInfo* port = nullptr;

  const std::string& topic() const { return draft->plan.topics.at(port->name); }
  /// Returns the name of the port, such as "optimizer.gradients", for errors.
  std::string text() const { return draft->plan.name + "." + port->name; }

  /// Returns the position at which the launch file remaps the port to another topic, or the position of the component
  /// if it does not.
  const Origin& origin() const;
};

/// Returns true if `topic` is a valid full name of a topic: words of letters, digits, '_', '-' and '.', with a '/'
/// before each word.
bool is_topic(const std::string& topic);

/// The outputs that send on each topic, by the name of the topic.
using Senders = std::map<std::string, std::vector<PortRef>>;

/// Sets the topic of every port (input or output). The topic is the one to which the launch file remaps the port, or
/// else the default from the plugin's declaration. The names of the rank and of the namespace are put in front, unless
/// the topic starts with '/'. Throws, with the position in the file, for ports that the file names but that do not
/// exist, and for invalid topics.
void name_topics(std::vector<Draft>& drafts);

/// Returns all outputs by their topics. Throws kTypeMismatch if outputs of different types have the same topic.
Senders find_senders(const std::vector<Draft>& drafts);

/// Changes the topics of inputs that have no sender, so that components that exist for each rank and components that
/// exist once can exchange messages. An input of a component that exists for each rank is connected to an output of a
/// component that exists once. An input of a component that exists once is connected to rank 0; if it declares
/// `every_rank`, topics_heard() adds the other ranks. Does nothing in a run with a single rank.
void bridge_ranks(std::vector<Draft>& drafts, const Senders& senders);

/// Returns the topics that an input receives. These are its own topic and, if the input declares `every_rank` and
/// bridge_ranks() has connected it to rank 0, the corresponding topics of the other ranks.
std::vector<std::string> topics_heard(const PortRef& input);

}  // namespace trainyard::launch
