// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/predict_order.h"

#include <optional>
#include <utility>

namespace trainyard::host {
namespace {

void send(Prediction prediction, const Order& order, Workplace& workplace) {
  prediction.order = order.id;
  prediction.step = workplace.position.step;
  workplace.predictions.send(std::move(prediction));
}

}  // namespace

void PredictOrder::use(const Batch& batch) {
  Runner& runner = workplace().runner;
  if (used() == 1) runner.begin_evaluation();
  std::optional<Prediction> prediction = runner.predict(batch);
  if (prediction) send(std::move(*prediction), order(), workplace());
}

void PredictOrder::conclude(OrderDone&) { workplace().runner.end_evaluation(); }

void PredictOrder::abandon() {
  if (used() > 0) workplace().runner.end_evaluation();
}

void GenerateOrder::begin() {
  Runner& runner = workplace().runner;
  runner.begin_evaluation();
  Prediction generated = runner.generate(order().split);
  // Every rank generates a different text, and the text of rank 0 is enough.
  if (workplace().context.rank == 0) send(std::move(generated), order(), workplace());
  runner.end_evaluation();
}

}  // namespace trainyard::host
