// SPDX-License-Identifier: Apache-2.0
#include "tools/trainyard/topic_window.h"

namespace trainyard::tools {

void TopicWindow::add(const MessageRecord& record) {
  const auto [newest, is_new] = newest_.try_emplace(record.source, record.sequence);
  // If the sequence number has decreased, the process was started again, and no messages are counted as missed.
  if (!is_new && record.sequence > newest->second) missed_ += record.sequence - newest->second - 1;
  newest->second = record.sequence;
  ++messages_;
  records_.push_back(record);
  if (records_.size() > capacity_) records_.pop_front();
}

}  // namespace trainyard::tools
