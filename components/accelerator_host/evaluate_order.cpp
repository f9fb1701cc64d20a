// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/evaluate_order.h"

#include "messages/reduction.h"

namespace trainyard::host {

void EvaluateOrder::use(const Batch& batch) {
  Evaluator& evaluator = workplace().runner.evaluator();
  if (used() == 1) {
    evaluator.begin();
    workplace().validation.begin(order());
  }
  evaluated_.emplace_back(static_cast<double>(batch.samples), evaluator.evaluate(batch));
  workplace().validation.see(batch);
}

// Merging the metrics waits for the device, which happens only here.
void EvaluateOrder::conclude(OrderDone& done) {
  if (used() == 0) return;
  workplace().validation.finish();
  workplace().runner.evaluator().end();
  ScalarMerger merger;
  for (const auto& [samples, metrics] : evaluated_) {
    for (const NamedMetric& metric : metrics) {
      merger.add(metric.name, metric.value.item<double>(), samples, metric.reduction);
    }
  }
  done.metrics = merger.values();
  done.reductions = merger.reductions();
  workplace().reporter.report_evaluation(order(), done);
}

void EvaluateOrder::abandon() {
  if (used() > 0) workplace().runner.evaluator().end();
}

}  // namespace trainyard::host
