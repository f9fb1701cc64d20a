// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/validation_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <optional>
#include <utility>

#include "components/accelerator_host/sample_image.h"
#include "messages/error.h"
#include "tensors/bridge.h"

namespace trainyard::host {
namespace {

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

/// Returns true if the dataset is one for classifiers: each sample has two fields, an input and one class number.
bool has_classes(const DatasetInfo& data) {
  if (data.fields.size() != 2 || data.classes < 2) return false;
  const std::vector<std::int64_t>& target = data.fields[1].shape;
  return std::accumulate(target.begin(), target.end(), std::int64_t{1}, std::multiplies<>()) == 1;
}

std::vector<std::string> names_of_classes(const DatasetInfo& data) {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < data.classes; ++i) {
    names.push_back(i < data.vocabulary.size() ? data.vocabulary[i] : fmt::to_string(i));
  }
  return names;
}

}  // namespace

ValidationReport::ValidationReport(Runner& runner, const RunPosition& position, Outputs outputs,
                                   const ComponentContext& context, Settings settings)
    : runner_(runner), position_(position), outputs_(outputs), context_(context), settings_(settings) {}

void ValidationReport::describe(const DatasetInfo& data) {
  const bool classes = has_classes(data);
  text_ = !classes && data.unit == "token";
  batch_size_ = std::max<std::uint64_t>(data.batch_size, 1);
  if (*settings_.confusion && (!classes || data.classes > Confusion::kMaxClasses)) {
    throw Error(Code::kInvalidArgument,
                "confusion_matrix needs a dataset with 2 to {} classes, one for each sample; dataset '{}' has {}",
                Confusion::kMaxClasses, data.dataset,
                classes ? fmt::format("{} classes", data.classes) : "other targets");
  }
  if (*settings_.samples > 0 && !classes && !text_) {
    throw Error(Code::kInvalidArgument,
                "samples_per_validation needs a dataset of text, or with one class for each sample; dataset '{}' "
                "has other targets",
                data.dataset);
  }
  if (classes && (*settings_.confusion || *settings_.samples > 0)) classes_ = names_of_classes(data);
}

void ValidationReport::begin(const Order& order) {
  active_ = order.split != kTrainSplit;
  order_ = order.id;
  batches_ = 0;
  confusion_ = {.rank = context_.rank,
                .ranks = runner_.same_data() ? 1 : context_.world_size,
                .step = position_.step,
                .epoch = position_.epoch,
                .split = order.split,
                .classes = classes_,
                .counts = std::vector<std::uint64_t>(*settings_.confusion ? classes_.size() * classes_.size() : 0)};
  samples_ = {.step = position_.step, .epoch = position_.epoch, .split = order.split, .samples = {}};
}

// The result must be the same on every rank, so it depends on the size of a full batch, not of this batch.
bool ValidationReport::wants_samples() const {
  return !classes_.empty() && batches_ * batch_size_ < static_cast<std::uint64_t>(*settings_.samples);
}

void ValidationReport::see(const Batch& batch) {
  if (!active_) return;
  if (*settings_.confusion || wants_samples()) {
    const std::optional<Prediction> prediction = runner_.evaluator().predict(batch);
    if (prediction) take(batch, *prediction);
  }
  ++batches_;
}

void ValidationReport::take(const Batch& batch, const Prediction& prediction) {
  const auto rows = static_cast<std::int64_t>(batch.samples);
  const std::vector<Tensor>& said = prediction.tensors;
  if (said.size() != 2 || said[0].dtype != DType::kInt64 || said[0].elements() != rows || said[1].elements() != rows) {
    throw Error(Code::kUnsupported,
                std::string("the predictions of the model are not class numbers with probabilities, as "
                            "confusion_matrix and samples_per_validation need them"));
  }
  const at::Tensor predicted = view_of(said[0]), probability = view_of(said[1]).to(at::kDouble);
  const at::Tensor right = view_of(batch.tensors.at(1)).reshape({-1}).to(at::kLong);
  const auto known = static_cast<std::int64_t>(classes_.size());
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto is = right[row].item<std::int64_t>(), seems = predicted[row].item<std::int64_t>();
    // A negative class number means that the class is unknown. Such samples are left out, as losses do, too.
    if (is < 0 || is >= known || seems < 0 || seems >= known) continue;
    if (!confusion_.counts.empty()) ++confusion_.counts[static_cast<std::size_t>(is * known + seems)];
    if (context_.rank == 0 && samples_.samples.size() < static_cast<std::size_t>(*settings_.samples)) {
      samples_.samples.push_back(result_of(batch, row, is, seems, probability[row].item<double>()));
    }
  }
}

SampleResult ValidationReport::result_of(const Batch& batch, std::int64_t row, std::int64_t right,
                                         std::int64_t predicted, double probability) const {
  return {.index = batches_ * batch_size_ + static_cast<std::uint64_t>(row),
          .right = classes_[static_cast<std::size_t>(right)],
          .predicted = classes_[static_cast<std::size_t>(predicted)],
          .probability = probability,
          .image = image_of(view_of(batch.tensors.at(0))[row])};
}

void ValidationReport::finish() {
  if (!std::exchange(active_, false)) return;
  confusion_.time_ns = samples_.time_ns = now_ns();
  // If all ranks get the same samples, only rank 0 sends the matrix, so that each sample is counted once.
  if (*settings_.confusion && context_.rank < confusion_.ranks) outputs_.confusion.send(std::move(confusion_));
  if (!samples_.samples.empty()) outputs_.samples.send(std::move(samples_));
  if (text_ && *settings_.samples > 0) generate();
}

// All ranks take part, but only rank 0 sends its texts.
void ValidationReport::generate() {
  std::vector<Prediction> texts =
      runner_.evaluator().generate_aside(samples_.split, static_cast<std::uint64_t>(*settings_.samples));
  if (context_.rank != 0) return;
  for (Prediction& text : texts) {
    text.order = order_;
    text.step = position_.step;
    outputs_.texts.send(std::move(text));
  }
}

}  // namespace trainyard::host
