// SPDX-License-Identifier: Apache-2.0
#include "components/logger/tensorboard_sink.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <vector>

#include "components/logger/tensorboard_event.h"
#include "components/logger/tensorboard_plugins.h"
#include "images/base64.h"

namespace trainyard {
namespace {

std::string host_name() {
  char name[256] = "localhost";
  ::gethostname(name, sizeof name - 1);
  return name;
}

/// Returns a path that does not exist yet, even if another run has started in the same second with the same process id.
std::string fresh_path(const std::string& directory) {
  const std::string base =
      fmt::format("{}/events.out.tfevents.{}.{}.{}", directory, realtime_ns() / 1'000'000'000, host_name(), ::getpid());
  std::string path = base;
  for (int i = 1; std::filesystem::exists(path); ++i) path = fmt::format("{}.{}", base, i);
  return path;
}

/// A double represents the current time to a microsecond, and TensorBoard shows seconds.
double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }

}  // namespace

TensorboardSink::TensorboardSink(const std::string& directory,
                                 const std::map<std::string, nlohmann::json>& hyperparameters)
    : file_(fresh_path(directory)) {
  add(version_event(seconds(realtime_ns())));
  if (!hyperparameters.empty()) add(hyperparameters_event(seconds(realtime_ns()), hyperparameters));
}

void TensorboardSink::add(const std::string& event) { append_record(file_.buffer(), event); }

// TensorBoard groups curves by the first part of the tag, here the stage.
void TensorboardSink::on(const Metrics& metrics) {
  for (const Scalar& scalar : metrics.values) {
    const std::string tag = metrics.stage + "/" + scalar.name;
    add(scalar_event({seconds(metrics.time_ns), metrics.step, tag}, static_cast<float>(scalar.value)));
  }
}

void TensorboardSink::on(const Prediction& prediction) {
  // TensorBoard has no page for tensors.
  if (prediction.text.empty()) return;
  const std::string tag = "predict/" + (prediction.title.empty() ? "text" : prediction.title);
  add(text_event({seconds(realtime_ns()), prediction.step, tag}, prediction.text));
}

// If the ranks have different parts of the parameters, their histograms are shown separately.
void TensorboardSink::on(const Histograms& message) {
  for (const Histogram& histogram : message.histograms) {
    std::string tag = fmt::format("{}/{}", name_of(histogram.of), histogram.name);
    if (message.ranks > 1) tag += fmt::format("/rank{}", message.rank);
    add(histogram_event({seconds(message.time_ns), message.step, tag}, histogram));
  }
}

// TensorBoard shows each tag on only one page, so a table needs another tag than the picture.
void TensorboardSink::add_table(std::int64_t time_ns, std::uint64_t step, const std::string& tag,
                                const std::string& table) {
  if (!table.empty()) add(text_event({seconds(time_ns), step, tag + "/table"}, table));
}

void TensorboardSink::on(const Confusion& confusion) {
  const std::optional<Confusion> sum = confusion_.add(confusion);
  if (!sum) return;
  const std::string tag = "confusion/" + sum->split;
  if (const auto picture = picture_of(*sum)) {
    add(images_event({seconds(sum->time_ns), sum->step, tag}, picture->width, picture->height, {{picture->file}}));
  }
  add_table(sum->time_ns, sum->step, tag, table_of(*sum));
}

void TensorboardSink::on(const SampleResults& results) {
  const std::string tag = "samples/" + results.split;
  std::vector<std::string> files;
  for (const SampleResult& sample : results.samples) {
    std::optional<std::string> file = images::bytes_of_base64(sample.image);
    if (file && !file->empty()) files.push_back(*std::move(file));
  }
  // TensorBoard shows each image in its real size, so the size given here does not matter.
  if (!files.empty()) {
    add(images_event({seconds(results.time_ns), results.step, tag}, SampleResults::kMaxImageSide,
                     SampleResults::kMaxImageSide, files));
  }
  add_table(results.time_ns, results.step, tag, table_of(results));
}

}  // namespace trainyard
