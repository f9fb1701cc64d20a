// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/open_orders.h"

#include <algorithm>
#include <utility>

#include "messages/error.h"

namespace trainyard::manager {

Order OpenOrders::open(Task task) {
  task.order.id = take_id();
  open_.push_back({.content = {.task = std::move(task), .measured = {}}});
  return open_.back().content.task.order;
}

std::optional<OpenOrders::Closed> OpenOrders::answered(const OrderDone& done) {
  const auto entry = std::ranges::find(open_, done.order, [](const Entry& open) { return open.content.task.order.id; });
  if (entry == open_.end()) {
    throw Error(Code::kInternal, "order {} ({}) was answered, but it is not open", done.order, name_of(done.kind));
  }
  const OrderKind kind = entry->content.task.order.kind;
  // All ranks make or skip the same steps. A rank at another place has lost or repeated a step, and its parameters are
  // wrong. OrderDone::step is not compared, because ranks can skip steps independently of each other.
  if (entry->answers == 0) entry->all_steps = done.all_steps;
  if (entry->all_steps != done.all_steps) {
    throw Error(Code::kInternal,
                "ranks disagree about order {} ({}): one has made or skipped {} steps, another {} (it is at step {})",
                done.order, name_of(kind), entry->all_steps, done.all_steps, done.step);
  }
  if (kind == OrderKind::kEvaluate) entry->content.measured[done.rank] = done;
  if (++entry->answers < ranks_) return {};
  Closed closed = std::move(entry->content);
  open_.erase(entry);
  return closed;
}

bool OpenOrders::has_evaluation() const {
  return std::ranges::any_of(open_,
                             [](const Entry& open) { return open.content.task.order.kind == OrderKind::kEvaluate; });
}

bool OpenOrders::has_evaluation(Purpose purpose) const {
  return std::ranges::any_of(open_, [purpose](const Entry& open) {
    const Task& task = open.content.task;
    return task.order.kind == OrderKind::kEvaluate && task.purpose == purpose;
  });
}

}  // namespace trainyard::manager
