// SPDX-License-Identifier: Apache-2.0
#include "components/accelerator_host/validation_report.h"

#include <ATen/ops/argmax.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/accelerator_host/host_fixture.h"
#include "components/accelerator_host/sample_image.h"
#include "core/testing/error_of.h"
#include "images/base64.h"

namespace trainyard::testing {
namespace {

/// Returns the classes that the model must predict, computed directly with LibTorch.
at::Tensor predicted(const std::vector<at::Tensor>& parameters, const Batch& batch) {
  const at::Tensor hidden = at::relu(at::linear(view_of(batch.tensors[0]), parameters[0], parameters[1]));
  return at::argmax(at::linear(hidden, parameters[2], parameters[3]), 1);
}

TEST_F(AcceleratorHostTest, AValidationCountsWhichClassesAreMistakenForWhich) {
  start_ready(R"(, "confusion_matrix": true)");
  send("/orders", Order{.id = 1, .kind = OrderKind::kEvaluate, .split = "validate", .batches = 2});
  std::vector<std::uint64_t> expected(9);
  for (std::uint64_t index = 0; index < 2; ++index) {
    const Batch one = batch(1, index, 5, "validate");
    const at::Tensor seems = predicted(oracle().parameters, one);
    for (std::int64_t row = 0; row < 5; ++row) {
      const auto right = one.tensors[1].as<std::int64_t>()[static_cast<std::size_t>(row)];
      ++expected[static_cast<std::size_t>(right * 3 + seems[row].item<std::int64_t>())];
    }
    send("batches", one);
  }
  const auto said = rig_.received<Confusion>("/confusion");
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0]->counts, expected);
  EXPECT_EQ(said[0]->classes, (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(said[0]->split, "validate");
  EXPECT_TRUE(rig_.received<SampleResults>("/samples").empty());
}

TEST_F(AcceleratorHostTest, AValidationShowsItsFirstSamples) {
  start_ready(R"(, "samples_per_validation": 6)");
  send("/orders", Order{.id = 1, .kind = OrderKind::kEvaluate, .split = "validate", .batches = 3});
  for (std::uint64_t index = 0; index < 3; ++index) send("batches", batch(1, index, 4, "validate"));
  const auto said = rig_.received<SampleResults>("/samples");
  ASSERT_EQ(said.size(), 1u);
  ASSERT_EQ(said[0]->samples.size(), 6u);
  const Batch second = batch(1, 1, 4, "validate");
  const SampleResult& last = said[0]->samples[5];
  EXPECT_EQ(last.right, std::to_string(second.tensors[1].as<std::int64_t>()[1]));
  EXPECT_EQ(last.predicted, std::to_string(predicted(oracle().parameters, second)[1].item<std::int64_t>()));
  EXPECT_GT(last.probability, 1.0 / 3);
  EXPECT_EQ(last.image, "") << "six numbers are no image";
  EXPECT_TRUE(rig_.received<Confusion>("/confusion").empty());
}

TEST_F(AcceleratorHostTest, AnEvaluationOfTrainingDataIsNoValidation) {
  start_ready(R"(, "samples_per_validation": 6, "confusion_matrix": true)");
  send("/orders", Order{.id = 1, .kind = OrderKind::kEvaluate, .split = "train", .batches = 1});
  send("batches", batch(1, 0));
  EXPECT_EQ(done(), 1u);
  EXPECT_TRUE(rig_.received<SampleResults>("/samples").empty());
  EXPECT_TRUE(rig_.received<Confusion>("/confusion").empty());
}

TEST_F(AcceleratorHostTest, AnAbandonedValidationIsNotReported) {
  start_ready(R"(, "confusion_matrix": true)");
  send("/orders", Order{.id = 1, .kind = OrderKind::kEvaluate, .split = "validate", .batches = 2});
  send("batches", batch(1, 0, 4, "validate"));
  send("/orders", Order{.id = 2, .kind = OrderKind::kStop});
  send("/orders", Order{.id = 3, .kind = OrderKind::kEvaluate, .split = "validate", .batches = 1});
  send("batches", batch(3, 0, 4, "validate"));
  const auto said = rig_.received<Confusion>("/confusion");
  ASSERT_EQ(said.size(), 1u);
  std::uint64_t sum = 0;
  for (const std::uint64_t count : said[0]->counts) sum += count;
  EXPECT_EQ(sum, 4u);
}

/// Starts an accelerator host with a dataset that does not allow the report, and returns the error.
std::string refusal(const std::string& parameters, DatasetInfo data) {
  Rig rig;
  rig.add<AcceleratorHost>("accelerator_host", std::string("{") + kMlp + parameters + "}");
  rig.start();
  data.dataset = "made up";
  data.fields = {{"input", 7, {6}}, {"target", 4, {}}};
  return error_of([&] {
           rig.send("dataset", data);
           rig.run_until_idle();
         })
      .second;
}

TEST_F(AcceleratorHostTest, AReportThatTheDatasetDoesNotAllowIsRefusedAtTheStart) {
  DatasetInfo numbers, many;
  many.classes = 1000;
  EXPECT_EQ(refusal(R"(, "confusion_matrix": true)", many),
            "accelerator_host: confusion_matrix needs a dataset with 2 to 256 classes, one for each sample; "
            "dataset 'made up' has 1000 classes");
  EXPECT_EQ(refusal(R"(, "confusion_matrix": true)", numbers),
            "accelerator_host: confusion_matrix needs a dataset with 2 to 256 classes, one for each sample; "
            "dataset 'made up' has other targets");
  EXPECT_EQ(refusal(R"(, "samples_per_validation": 1)", numbers),
            "accelerator_host: samples_per_validation needs a dataset of text, or with one class for each "
            "sample; dataset 'made up' has other targets");
}

TEST(SampleImageTest, ImagesArePngAndOtherSamplesAreNot) {
  for (const auto& shape : std::vector<std::vector<std::int64_t>>{{4, 5}, {1, 4, 5}, {3, 4, 5}, {3, 500, 20}}) {
    const auto file = images::bytes_of_base64(host::image_of(at::rand(shape)));
    ASSERT_TRUE(file);
    EXPECT_EQ(file->substr(1, 3), "PNG");
    // In the header of a PNG file, the width and the height are at fixed positions.
    const auto number = [&](std::size_t place) {
      return static_cast<int>(static_cast<unsigned char>((*file)[place + 3]));
    };
    EXPECT_EQ(number(16), 5);
    EXPECT_EQ(number(20), shape.back() == 20 ? 125 : 4);
  }
  EXPECT_EQ(host::image_of(at::rand({7})), "");
  EXPECT_EQ(host::image_of(at::rand({2, 4, 5})), "");
  EXPECT_EQ(host::image_of(at::rand({3, 0, 5})), "");
  EXPECT_NE(host::image_of(at::full({2, 2}, std::numeric_limits<float>::quiet_NaN())), "");
}

}  // namespace
}  // namespace trainyard::testing
