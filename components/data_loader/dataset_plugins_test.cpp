// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "components/data_loader/data_loader.h"
#include "core/testing/python.h"
#include "core/testing/rig.h"
#include "datasets/testing/dataset_testing.h"

namespace trainyard {
namespace {

using ::testing::ElementsAre;
using testing::error_of;
using ::testing::HasSubstr;
using testing::real_data;
using testing::Rig;
using testing::TemporaryFolder;

/// Returns the text of the error that configuring a data loader with this dataset throws.
std::string refusal(const std::string& dataset) {
  return error_of([&] {
           Rig rig;
           rig.add<DataLoader>("data_loader", fmt::format(R"({{"dataset": {}}})", dataset));
           rig.start();
         })
      .second;
}

TEST(DatasetPluginsTest, ADatasetIsLoadedByNameAndGetsItsParameters) {
  Rig rig;
  rig.add<DataLoader>("data_loader",
                      R"({"dataset": {"plugin": "synthetic", "samples": 640, "features": 12}, "batch_size": 64})");
  rig.start();
  rig.send("/orders", Order{.id = 1, .kind = OrderKind::kTrain, .batches = 10});
  rig.run_until([&] { return rig.received<Batch>("batches").size() == 10; });
  const auto batches = rig.received<Batch>("batches");
  EXPECT_THAT(batches[9]->tensors[0].shape, ElementsAre(64, 12));
  EXPECT_THAT(batches[9]->tensors[1].shape, ElementsAre(64));
  EXPECT_EQ(rig.received<DatasetInfo>("dataset")[0]->classes, 10u);
  rig.stop();
}

TEST(DatasetPluginsTest, MistakesInTheDatasetsPartOfALaunchFileAreNamed) {
  EXPECT_THAT(refusal(R"({"plugin": "synthetic", "sample": 5})"), HasSubstr("samples"));
  EXPECT_THAT(refusal(R"({"plugin": "synthetic", "samples": 0})"),
              HasSubstr("dataset 'synthetic' of component 'data_loader': samples: 0 is not allowed"));
  EXPECT_THAT(refusal(R"("synthetics")"), HasSubstr("no dataset named 'synthetics'"));
  EXPECT_THAT(refusal(R"({"plugin": "text"})"), HasSubstr("the parameter 'path' must be given"));
  EXPECT_THAT(refusal(R"({"plugin": "text", "path": "/nowhere/at/all"})"), HasSubstr("/nowhere/at/all"));
}

/// Writes 60 records in CIFAR-10's format and returns their folder. The first pixel of each record is its number.
std::string cifar_folder(const TemporaryFolder& folder) {
  std::string bytes;
  for (int i = 0; i < 60; ++i) {
    bytes += static_cast<char>(i % 10);
    for (int pixel = 0; pixel < 3072; ++pixel) bytes += static_cast<char>(pixel == 0 ? i : 1 + pixel % 251);
  }
  folder.write("data_batch_1.bin", bytes);
  return fmt::format(R"({{"plugin": "cifar10", "folder": "{}", "files": 1, "train_count": 50}})", folder.path(""));
}

/// Returns the bytes of all batches of an epoch and of a following evaluation.
std::vector<std::string> epoch_of(const std::string& parameters) {
  Rig rig;
  rig.add<DataLoader>("data_loader", parameters);
  rig.start();
  rig.send("/orders", Order{.id = 1, .kind = OrderKind::kTrain, .batches = 5, .cursor = {2, 0}});
  rig.send("/orders", Order{.id = 2, .kind = OrderKind::kEvaluate, .split = "validate"});
  rig.send("/orders", Order{.id = 3, .kind = OrderKind::kEvaluate, .split = "train"});
  rig.run_until([&] { return rig.received<Batch>("batches").size() == 11; });
  std::vector<std::string> all;
  for (const auto& batch : rig.received<Batch>("batches")) {
    for (const Tensor& tensor : batch->tensors) {
      all.emplace_back(reinterpret_cast<const char*>(tensor.data()), tensor.bytes());
    }
  }
  rig.stop();
  return all;
}

constexpr const char* kTransforms =
    R"([{"plugin": "random_crop", "size": 32, "padding": 4}, "random_flip", {"plugin": "normalize", "mean": [0.5]}])";

TEST(TransformsTest, AreTheSameBitForBitWhateverTheWorkersAndThePrefetch) {
  TemporaryFolder folder;
  const std::string dataset = cifar_folder(folder);
  std::vector<std::string> first;
  for (const auto& [workers, prefetch] : {std::pair(0, 1), {1, 4}, {3, 2}, {5, 16}}) {
    const auto all =
        epoch_of(fmt::format(R"({{"dataset": {}, "transforms": {}, "batch_size": 10, "workers": {}, "prefetch": {}}})",
                             dataset, kTransforms, workers, prefetch));
    if (first.empty()) first = all;
    EXPECT_TRUE(all == first) << workers << " workers, prefetch " << prefetch;
  }
}

TEST(TransformsTest, EverySampleOfAShuffledEpochComesOnceThroughThemToo) {
  TemporaryFolder folder;
  const std::string dataset = cifar_folder(folder);
  for (const int workers : {0, 1, 4}) {
    const auto all = epoch_of(
        fmt::format(R"({{"dataset": {}, "transforms": [{{"plugin": "normalize"}}], "batch_size": 10, "workers": {}}})",
                    dataset, workers));
    std::vector<int> numbers;
    for (std::size_t batch = 0; batch < 5; ++batch) {
      const auto* pixels = reinterpret_cast<const float*>(all[2 * batch].data());
      for (std::size_t row = 0; row < 10; ++row) numbers.push_back(static_cast<int>(pixels[row * 3072] * 255 + 0.5f));
    }
    std::ranges::sort(numbers);
    for (int i = 0; i < 50; ++i) EXPECT_EQ(numbers[static_cast<std::size_t>(i)], i);
  }
}

/// The dataset consists of 40 JPEG files; picture i has the grey level 6 * i.
TEST(TransformsTest, EveryPictureOfAShuffledEpochComesOnceWhateverTheWorkers) {
  if (!testing::python_has("PIL.Image")) GTEST_SKIP() << "needs /usr/bin/python3 with PIL (Debian: python3-pil)";
  TemporaryFolder folder;
  testing::python(R"(
import os, sys
from PIL import Image
for i in range(40):
    os.makedirs(f"{sys.argv[1]}/{i % 4}", exist_ok=True)
    Image.new("RGB", (60 + i, 50), (6 * i,) * 3).save(f"{sys.argv[1]}/{i % 4}/{i}.jpg")
)",
                  folder.path(""));
  for (const int workers : {0, 1, 3, 8}) {
    Rig rig;
    rig.add<DataLoader>("data_loader",
                        fmt::format(R"({{"dataset": {{"plugin": "image_folder", "folder": "{}", "size": 16,
        "validate_fraction": 0}}, "transforms": ["random_flip"], "batch_size": 6, "workers": {}, "drop_last": false}})",
                                    folder.path(""), workers));
    rig.start();
    rig.send("/orders", Order{.id = 1, .kind = OrderKind::kTrain, .batches = 7, .cursor = {1, 0}});
    rig.run_until([&] { return rig.received<Batch>("batches").size() == 7; });
    std::vector<int> pictures;
    for (const auto& batch : rig.received<Batch>("batches")) {
      const auto pixels = batch->tensors[0].as<std::uint8_t>();
      const auto labels = batch->tensors[1].as<std::int64_t>();
      for (std::size_t row = 0; row < labels.size(); ++row) {
        pictures.push_back((pixels[row * 768] + 3) / 6);
        EXPECT_EQ(labels[row], pictures.back() % 4);
      }
    }
    std::ranges::sort(pictures);
    ASSERT_EQ(pictures.size(), 40u);
    for (int i = 0; i < 40; ++i) EXPECT_EQ(pictures[static_cast<std::size_t>(i)], i) << workers << " workers";
    rig.stop();
  }
}

TEST(TransformsTest, RandomOnesDrawForTrainingBatchesUnlessOtherSplitsAreNamed) {
  TemporaryFolder folder;
  const std::string parameters = R"({"dataset": )" + cifar_folder(folder) + R"(, "batch_size": 10, "transforms": )";
  const auto plain = epoch_of(parameters + R"([{"plugin": "normalize", "mean": [0.5]}]})");
  const auto usual = epoch_of(parameters + kTransforms + "}");
  const auto both = epoch_of(parameters + kTransforms + R"(, "random_splits": ["train", "validate"]})");
  const auto never = epoch_of(parameters + kTransforms + R"(, "random_splits": []})");
  EXPECT_NE(usual[0], plain[0]);
  // In an evaluation, the transform takes the middle of the padded image, which is the original image.
  EXPECT_EQ(usual[10], plain[10]);
  EXPECT_EQ(usual[12], plain[12]);  // The same holds for an evaluation of the training samples.
  EXPECT_EQ(both[0], usual[0]);
  EXPECT_NE(both[10], plain[10]);
  EXPECT_TRUE(never == plain);
}

TEST(TransformsTest, MistakesAreNamedWithTheirPlaceInTheList) {
  const auto message = [](const std::string& transforms) { return refusal(R"("synthetic", )" + transforms); };
  EXPECT_THAT(message(R"("transforms": ["normalise"])"),
              HasSubstr("no transform named 'normalise'; did you mean 'normalize'?"));
  EXPECT_THAT(message(R"("transforms": ["normalize", {"plugin": "random_crop", "sise": 3, "size": 3}])"),
              HasSubstr("transform 'random_crop' (transforms[1]) of component 'data_loader' has no parameter 'sise'"));
  EXPECT_THAT(message(R"("transforms": ["random_flip"])"),
              HasSubstr("transform 'random_flip' (transforms[0]) of component 'data_loader': the field 'input' is"));
  EXPECT_THAT(message(R"("random_splits": ["vlidate"])"), HasSubstr("did you mean 'validate'?"));
}

TEST(DatasetPluginsTest, ABrokenFileIsNamedThroughTheLoader) {
  TemporaryFolder folder;
  const std::string path = folder.write("ragged.csv", "a,b\n1,0\n1,2,3\n");
  EXPECT_THAT(refusal(fmt::format(R"({{"plugin": "csv", "path": "{}"}})", path)),
              HasSubstr(path + " line 3 at offset 8: 3 cells; allowed: 2"));
  const std::string cifar = cifar_folder(folder);
  std::filesystem::resize_file(folder.path("data_batch_1.bin"), 59 * 3073 + 100);
  EXPECT_THAT(refusal(cifar), HasSubstr("data_batch_1.bin at offset 181307: the file ends after 100 bytes"));
}

TEST(DatasetPluginsTest, TextWithReplacementIsDrawnFromEveryPartOfTheTrainingText) {
  const std::string path = real_data("tinyshakespeare/input.txt");
  if (path.empty()) GTEST_SKIP() << "set TRAINYARD_TEST_DATA to a folder with tinyshakespeare/input.txt";
  Rig rig;
  rig.add<DataLoader>("data_loader", fmt::format(R"({{"dataset": {{"plugin": "text", "path": "{}"}}, "batch_size": 12,
      "sampling": "replacement", "evaluation_sampling": "replacement"}})",
                                                 path));
  rig.start();
  rig.send("/orders", Order{.id = 1, .kind = OrderKind::kTrain, .batches = 20});
  rig.send("/orders", Order{.id = 2, .kind = OrderKind::kEvaluate, .split = "validate", .batches = 20});
  rig.run_until([&] { return rig.received<Batch>("batches").size() == 40; });
  for (const auto& batch : rig.received<Batch>("batches")) {
    const auto input = batch->tensors[0].as<std::int64_t>();
    const auto target = batch->tensors[1].as<std::int64_t>();
    for (std::size_t i = 0; i + 1 < input.size(); ++i) {
      const bool row_ends = i % 64 == 63;
      ASSERT_TRUE(row_ends || input[i + 1] == target[i]);
    }
  }
  rig.stop();
}

}  // namespace
}  // namespace trainyard
