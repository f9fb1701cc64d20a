// SPDX-License-Identifier: Apache-2.0
// Measures the processor time that the viewer takes for a curve of a table with many rows. Prints one JSON object for
// each kind of question.
#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <vector>

#include "viewer/curve.h"

using namespace trainyard;

static double now_ms() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

int main(int argc, char** argv) {
  const long rows = argc > 1 ? std::atol(argv[1]) : 1'000'000;
  viewer::Columns columns;
  Metrics metrics{.stage = "train", .values = {{"loss", 0}, {"learning_rate", 0}, {"throughput", 0}}};
  for (long i = 0; i < rows; ++i) {
    metrics.step = static_cast<std::uint64_t>(i);
    metrics.time_ns = i * 1'000'000;
    metrics.values[0].value = std::sin(static_cast<double>(i) * 0.37) + 1e6 / static_cast<double>(i + 1'000'000);
    columns.add(metrics);
  }
  const viewer::Column& loss = *columns.find("loss");
  for (const bool zoomed : {false, true}) {
    for (const double smooth : {0.0, 0.99}) {
      viewer::CurveRequest request{.points = 2000, .smooth = smooth};
      if (zoomed) request.from = static_cast<double>(rows) * 0.9;
      std::vector<double> times;
      for (int i = 0; i < 21; ++i) {
        const double begun = now_ms();
        const viewer::Curve curve = viewer::curve_of(columns, loss, request);
        times.push_back(now_ms() - begun);
        if (curve.x.size() != 2000) return 1;
      }
      std::ranges::sort(times);
      fmt::print("{{\"name\": \"curve of {} rows{}{}\", \"median_ns\": {:.0f}}}\n", rows,
                 zoomed ? ", the last tenth" : "", smooth > 0 ? ", smoothed" : "", times[times.size() / 2] * 1e6);
    }
  }
}
