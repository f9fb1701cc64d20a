// SPDX-License-Identifier: Apache-2.0
// Writes an event file for TensorBoard into a folder, with every kind of record that the logger writes. readers_test.py
// runs this program.
#include <cstdint>
#include <string>

#include "components/logger/tensorboard_sink.h"
#include "images/base64.h"
#include "images/png.h"

namespace trainyard {
namespace {

Histogram histogram(HistogramOf of, const std::string& name) {
  return {.name = name, .of = of, .elements = 7, .width = 0.25, .first = -2, .counts = {3, 0, 4}};
}

void write(const std::string& folder) {
  TensorboardSink sink(folder,
                       {{"optimizer.lr", 0.25}, {"accelerator_host.model.plugin", "mlp"}, {"logger.csv", true}});
  sink.on(Metrics{.step = 10, .stage = "train", .time_ns = 1'500'000'000, .values = {{"loss", 2.5}}});
  sink.on(Prediction{.step = 10, .title = "generated text", .text = "to be"});
  for (const std::uint64_t step : {10u, 20u}) {
    sink.on(Histograms{.step = step,
                       .histograms = {histogram(HistogramOf::kWeights, "w"), histogram(HistogramOf::kGradients, "w"),
                                      histogram(HistogramOf::kActivations, "layer")}});
  }
  sink.on(Confusion{.step = 20, .split = "validate", .classes = {"cat", "dog"}, .counts = {5, 1, 0, 6}});
  const std::string image =
      images::base64_of(images::png_of({.width = 3, .height = 2, .channels = 1, .bytes = {0, 50, 100, 150, 200, 250}}));
  sink.on(SampleResults{.step = 20,
                        .split = "validate",
                        .samples = {{.right = "cat", .predicted = "dog", .probability = 0.5, .image = image}}});
  sink.flush();
}

}  // namespace
}  // namespace trainyard

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  trainyard::write(argv[1]);
}
