// SPDX-License-Identifier: Apache-2.0
#include "strategies/gradient_buckets.h"

#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <utility>

namespace trainyard {

using torch::autograd::variable_list;

/// A hook that autograd calls after it has accumulated the gradient of one parameter.
class GradientBuckets::Hook final : public torch::autograd::FunctionPostHook {
 public:
  Hook(std::shared_ptr<GradientBuckets*> buckets, std::size_t parameter)
      : buckets_(std::move(buckets)), parameter_(parameter) {}

  variable_list operator()(const variable_list& outputs, const variable_list& /*inputs*/) override {
    if (*buckets_ != nullptr) (*buckets_)->finished(parameter_);
    return outputs;
  }

 private:
  std::shared_ptr<GradientBuckets*> buckets_;
  std::size_t parameter_;
};

GradientBuckets::GradientBuckets(const std::vector<NamedTensor>& parameters, const std::vector<ArenaEntry>& entries,
                                 const at::Tensor& gradients, std::uint64_t first_bytes, std::uint64_t bytes,
                                 OnReady on_ready)
    : gradients_(gradients), on_ready_(std::move(on_ready)), self_(std::make_shared<GradientBuckets*>(this)) {
  cut(entries, parameters.size(), first_bytes, bytes);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    // A tensor does not own its gradient accumulator, so this object must keep the accumulator alive.
    auto accumulator = torch::autograd::impl::grad_accumulator(parameters[i].tensor);
    accumulator->add_post_hook(std::make_unique<Hook>(self_, i));
    accumulators_.push_back(std::move(accumulator));
  }
}

GradientBuckets::~GradientBuckets() { *self_ = nullptr; }

void GradientBuckets::cut(const std::vector<ArenaEntry>& entries, std::size_t parameters, std::uint64_t first_bytes,
                          std::uint64_t bytes) {
  std::uint64_t end = gradients_.nbytes();
  std::uint64_t wanted = bytes == 0 ? 0 : std::min(first_bytes, bytes);
  bucket_of_.resize(parameters);
  std::size_t size = 0;
  for (std::size_t i = parameters; i-- > 0;) {
    bucket_of_[i] = buckets_.size();
    ++size;
    const bool full = wanted > 0 && end - entries[i].offset_bytes >= wanted;
    if (!full && i > 0) continue;
    buckets_.push_back({.index = static_cast<std::uint32_t>(buckets_.size()),
                        .offset_bytes = entries[i].offset_bytes,
                        .bytes = end - entries[i].offset_bytes});
    sizes_.push_back(std::exchange(size, 0));
    end = entries[i].offset_bytes;
    wanted = bytes;
  }
  for (Bucket& bucket : buckets_) bucket.count = static_cast<std::uint32_t>(buckets_.size());
}

void GradientBuckets::arm() {
  armed_ = true;
  unfinished_ = sizes_;
}

void GradientBuckets::finished(std::size_t parameter) {
  if (!armed_) return;
  std::size_t& left = unfinished_[bucket_of_[parameter]];
  // If a parameter is used twice in the model, the hook is still called once, because autograd adds up both
  // contributions first.
  if (left > 0) --left;
  while (next_ < buckets_.size() && unfinished_[next_] == 0) tell(next_++);
  if (on_progress) on_progress();
}

void GradientBuckets::flush() {
  armed_ = false;
  while (next_ < buckets_.size()) tell(next_++);
  next_ = 0;
}

void GradientBuckets::tell(std::size_t bucket) {
  const Bucket& told = buckets_[bucket];
  const auto size = static_cast<std::uint64_t>(gradients_.element_size());
  on_ready_(told, gradients_.narrow(0, static_cast<std::int64_t>(told.offset_bytes / size),
                                    static_cast<std::int64_t>(told.bytes / size)));
}

}  // namespace trainyard
