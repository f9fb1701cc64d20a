// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/topic_finder.h"

#include <vector>

#include "messages/error.h"
#include "messages/nearest.h"

namespace trainyard::tools {

nlohmann::json find_topic(visitors::RegistryClient& registry, const std::string& name) {
  std::vector<std::string> known;
  for (const nlohmann::json& topic : registry.ask("topics")) {
    known.push_back(topic.value("topic", ""));
    if (known.back() == name || known.back() == "/" + name) return topic;
  }
  throw Error(Code::kNotFound, "no topic '{}'{}", name, suggestion(name, known));
}

}  // namespace trainyard::tools
