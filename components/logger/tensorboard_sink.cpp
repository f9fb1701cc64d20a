// SPDX-License-Identifier: Apache-2.0
#include "components/logger/tensorboard_sink.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "components/logger/tensorboard_event.h"

namespace trainyard {
namespace {

std::string host_name() {
  char name[256] = "localhost";
  ::gethostname(name, sizeof name - 1);
  return name;
}

/// The name of an existing file is never used: two runs in one second, or a recycled process id, must not mix.
std::string fresh_path(const std::string& directory) {
  const std::string base =
      fmt::format("{}/events.out.tfevents.{}.{}.{}", directory, realtime_ns() / 1'000'000'000, host_name(), ::getpid());
  std::string path = base;
  for (int i = 1; std::filesystem::exists(path); ++i) path = fmt::format("{}.{}", base, i);
  return path;
}

/// A double holds the current time to the microsecond; TensorBoard shows seconds.
double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace

TensorboardSink::TensorboardSink(const std::string& directory) : file_(fresh_path(directory)) {
  append_record(file_.buffer(), version_event(seconds(realtime_ns())));
}

// The tag's first part groups curves: TensorBoard shows "train" and "validate" as two sections.
void TensorboardSink::on(const Metrics& metrics) {
  for (const Scalar& scalar : metrics.values) {
    const std::string tag = metrics.stage + "/" + scalar.name;
    append_record(file_.buffer(),
                  scalar_event(seconds(metrics.time_ns), metrics.step, tag, static_cast<float>(scalar.value)));
  }
}

void TensorboardSink::on(const Prediction& prediction) {
  // TensorBoard has no page for tensors.
  if (prediction.text.empty()) return;
  const std::string tag = "predict/" + (prediction.title.empty() ? "text" : prediction.title);
  append_record(file_.buffer(), text_event(seconds(realtime_ns()), prediction.step, tag, prediction.text));
}

}  // namespace trainyard
