// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/active_order.h"

#include "components/accelerator_host/checkpoint_order.h"
#include "components/accelerator_host/evaluate_order.h"
#include "components/accelerator_host/predict_order.h"
#include "components/accelerator_host/stop_order.h"
#include "components/accelerator_host/train_order.h"
#include "messages/error.h"

namespace trainyard::host {

// The data loader carries out orders in the same sequence as the accelerator host, so a batch of another order is an
// error of the data loader.
void ActiveOrder::consume(const Batch& batch) {
  if (batch.order != order_->id) {
    throw Error(Code::kInternal, "{}: a batch of order {} came while order {} ({}) had {} of {} batches",
                workplace_.context.where, batch.order, order_->id, name_of(order_->kind), used_, batches_);
  }
  ++used_;
  samples_ += batch.samples;
  use(batch);
}

OrderDone ActiveOrder::finish() {
  OrderDone done{.order = order_->id,
                 .rank = workplace_.context.rank,
                 .kind = order_->kind,
                 .split = order_->split,
                 .step = workplace_.position.step,
                 .all_steps = workplace_.position.all_steps,
                 .epoch = workplace_.position.epoch,
                 .batches = used_,
                 .samples = samples_,
                 .cursor = workplace_.position.cursor,
                 .metrics = {},
                 .reductions = {}};
  conclude(done);
  return done;
}

void ActiveOrder::on_parameters(const Parameters& message) {
  const std::uint64_t awaited = awaited_update();
  if (awaited == 0 || message.step != awaited) {
    throw Error(Code::kInternal, "{}: parameters of step {} came while order {} ({}) waited for {}",
                workplace_.context.where, message.step, order_->id, name_of(order_->kind),
                awaited == 0 ? "none" : fmt::format("those of step {}", awaited));
  }
  update_made(message.learning_rate);
}

bool is_one_unit(const Order& order) {
  return order.kind == OrderKind::kCheckpoint || order.kind == OrderKind::kGenerate;
}

std::unique_ptr<ActiveOrder> make_active(const std::shared_ptr<const Order>& order, Workplace& workplace) {
  switch (order->kind) {
    case OrderKind::kTrain:
      return std::make_unique<TrainOrder>(order, workplace);
    case OrderKind::kEvaluate:
      return std::make_unique<EvaluateOrder>(order, workplace);
    case OrderKind::kPredict:
      return std::make_unique<PredictOrder>(order, workplace);
    case OrderKind::kGenerate:
      return std::make_unique<GenerateOrder>(order, workplace);
    case OrderKind::kCheckpoint:
      return std::make_unique<CheckpointOrder>(order, workplace);
    case OrderKind::kStop:
      return std::make_unique<StopOrder>(order, workplace, nullptr);
    case OrderKind::kPause:
    case OrderKind::kGoOn:
      break;  // These only interrupt other orders.
  }
  throw Error(Code::kInternal, "{}: order {} ({}) is not carried out", workplace.context.where, order->id,
              name_of(order->kind));
}

}  // namespace trainyard::host
