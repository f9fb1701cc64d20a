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
  Evaluator& evaluator = workplace().runner.evaluator();
  if (used() == 1) evaluator.begin();
  std::optional<Prediction> prediction = evaluator.predict(batch);
  if (prediction) send(std::move(*prediction), order(), workplace());
}

void PredictOrder::conclude(OrderDone&) { workplace().runner.evaluator().end(); }

void PredictOrder::abandon() {
  if (used() > 0) workplace().runner.evaluator().end();
}

void GenerateOrder::begin() {
  Evaluator& evaluator = workplace().runner.evaluator();
  evaluator.begin();
  Prediction generated = evaluator.generate(order().split);
  // Every rank generates a different text, and the text of rank 0 is enough.
  if (workplace().context.rank == 0) send(std::move(generated), order(), workplace());
  evaluator.end();
}

}  // namespace trainyard::host
