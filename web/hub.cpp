// SPDX-License-Identifier: Apache-2.0
#include "web/hub.h"

namespace trainyard::web {

bool Hub::admit(Connection& guest) {
  if (guests_.size() + known_.size() >= limits().connections && guests_.empty()) {
    ++turned_away;
    return false;
  }
  const bool full = guests_.size() >= limits().guests || guests_.size() + known_.size() >= limits().connections;
  if (full && !guests_.empty()) {
    ++turned_away;
    Connection* const oldest = guests_.front();
    guests_.pop_front();
    oldest->cut();
  }
  guests_.push_back(&guest);
  ++accepted;
  connections = guests_.size() + known_.size();
  return true;
}

void Hub::promote(Connection& connection) {
  if (guests_.remove(&connection) > 0) known_.push_back(&connection);
}

void Hub::replace(Connection& connection) {
  known_.push_back(&connection);
  connections = guests_.size() + known_.size();
}

void Hub::remove(Connection& connection) {
  guests_.remove(&connection);
  known_.remove(&connection);
  connections = guests_.size() + known_.size();
}

void Hub::cut_all() {
  // The lists are copied, because a connection may remove itself from them when it is cut.
  std::list<Connection*> all = guests_;
  all.insert(all.end(), known_.begin(), known_.end());
  for (Connection* connection : all) connection->cut();
}

}  // namespace trainyard::web
