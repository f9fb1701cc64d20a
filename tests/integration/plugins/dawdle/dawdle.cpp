// SPDX-License-Identifier: Apache-2.0
// A transform for tests that changes nothing, and takes as long as its parameters specify.

#include <algorithm>
#include <chrono>
#include <thread>

#include "transforms/transform.h"

namespace trainyard {
namespace {

class Dawdle final : public Transform {
 public:
  explicit Dawdle(TransformContext& context) : Transform(context), rank_(context.rank) {}

  DatasetField prepare(const DatasetField& input) override { return input; }

  void apply(std::span<const std::byte> input, std::span<std::byte> output, TransformRandom*) const override {
    // The sleep imitates a long computation.
    const bool slow = *only_rank_ < 0 || *only_rank_ == static_cast<std::int64_t>(rank_);
    if (slow) std::this_thread::sleep_for(std::chrono::duration<double>(*sample_s_));
    std::ranges::copy(input, output.begin());
  }

 private:
  Parameter<double> sample_s_{*this, "sample_s", 0, "how long a sample takes", at_least(0) | in_unit("s")};
  Parameter<std::int64_t> only_rank_{*this, "only_rank", -1, "the rank that is slow; -1 = all"};

  std::uint32_t rank_;
};

}  // namespace
}  // namespace trainyard

TRAINYARD_TRANSFORM(trainyard::Dawdle, "dawdle", "Changes nothing, slowly; for tests.")
