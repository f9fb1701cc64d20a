// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <thread>

#include "core/plugin/loader.h"
#include "core/testing/error_of.h"
#include "core/testing/plugins.h"
#include "datasets/dataset.h"
#include "datasets/testing/contract.h"
#include "messages/dtype.h"
#include "messages/tensor.h"

// Tests the rules that every dataset must obey, on all dataset plugins of the build, including those that are added
// later.

namespace trainyard {
namespace {

using testing::DatasetCase;
using ::testing::HasSubstr;

/// The bytes of all fields of a sample, for comparisons.
using Sample = std::vector<std::vector<std::byte>>;
using Samples = std::map<std::string, std::vector<Sample>>;

constexpr std::byte kUntouched{0xa5};
constexpr std::size_t kMargin = 64;
/// The number of samples that are tested. In a larger split, only the first samples and the last sample are tested.
constexpr std::uint64_t kMostSamples = 64;

Sample read_sample(const Dataset& dataset, const DatasetInfo& info, const std::string& split, std::uint64_t index,
                   std::byte fill = kUntouched) {
  Sample sample;
  std::vector<std::span<std::byte>> spans;
  for (const DatasetField& field : info.fields) {
    sample.emplace_back(checked_bytes(static_cast<DType>(field.dtype), field.shape) + 2 * kMargin, fill);
    spans.push_back(std::span(sample.back()).subspan(kMargin, sample.back().size() - 2 * kMargin));
  }
  dataset.read(split, index, spans);
  return sample;
}

std::vector<std::uint64_t> indices_of(const SplitInfo& split) {
  std::vector<std::uint64_t> indices;
  for (std::uint64_t i = 0; i < std::min(split.samples, kMostSamples); ++i) indices.push_back(i);
  if (split.samples > kMostSamples) indices.push_back(split.samples - 1);
  return indices;
}

Samples read_all(const Dataset& dataset, bool backwards = false) {
  Samples samples;
  const DatasetInfo info = dataset.info();
  for (const SplitInfo& split : info.splits) {
    std::vector<std::uint64_t> indices = indices_of(split);
    samples[split.name].resize(indices.size());
    std::vector<std::size_t> places(indices.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = backwards ? places.size() - 1 - i : i;
    for (const std::size_t place : places) {
      samples[split.name][place] = read_sample(dataset, info, split.name, indices[place]);
    }
  }
  return samples;
}

class DatasetContractTest : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Dataset> make(const std::string& parameters) {
    context_.where = "dataset '" + GetParam() + "'";
    context_.parameters = parameters;
    context_.seed = 7;
    auto dataset = plugins_.create<Dataset>(GetParam(), context_);
    dataset->check_all_given_are_known();
    return dataset;
  }

  /// Returns the opened dataset. If it cannot be opened with its case, makes the test fail and returns null.
  std::unique_ptr<Dataset> opened() {
    try {
      auto dataset = make(case_.parameters);
      dataset->open();
      return dataset;
    } catch (const Error& error) {
      ADD_FAILURE() << "the contract cannot try the dataset '" << GetParam() << "' with the parameters "
                    << case_.parameters << ": " << error.what() << "\nAdd the file datasets/" << GetParam()
                    << "/testing/contract.cpp with a DatasetContract that writes a little data and gives parameters; "
                       "datasets/tokens/testing/contract.cpp shows how.";
      return nullptr;
    }
  }

  testing::TemporaryFolder folder_;
  DatasetCase case_ = testing::DatasetContract::of(GetParam(), folder_);
  core::PluginLoader plugins_{core::PluginLoader::default_directories()};
  DatasetContext context_;
};

TEST_P(DatasetContractTest, DescribesWhatItHas) {
  const auto dataset = opened();
  if (!dataset) return;
  const DatasetInfo info = dataset->info();
  EXPECT_EQ(info.dataset, GetParam());
  std::set<std::string> splits, fields;
  for (const SplitInfo& split : info.splits) {
    EXPECT_TRUE(splits.insert(split.name).second) << "two splits are named " << split.name;
    EXPECT_GT(split.samples, 0u) << "a split without samples is not listed: " << split.name;
    EXPECT_EQ(split.batches, 0u) << "the data loader counts batches";
  }
  EXPECT_TRUE(splits.contains("train"));
  for (const DatasetField& field : info.fields) {
    EXPECT_TRUE(fields.insert(field.name).second) << "two fields are named " << field.name;
    EXPECT_GT(checked_bytes(static_cast<DType>(field.dtype), field.shape), 0u) << field.name;
  }
  EXPECT_FALSE(fields.empty());
  EXPECT_TRUE(info.vocabulary.empty() || info.vocabulary.size() == info.classes)
      << info.vocabulary.size() << " names for " << info.classes << " classes";
  EXPECT_FALSE(info.unit.empty());
  EXPECT_GT(info.units_per_sample, 0u);
}

TEST_P(DatasetContractTest, ClassNumbersAreBelowTheNumberOfClasses) {
  const auto dataset = opened();
  if (!dataset) return;
  const DatasetInfo info = dataset->info();
  if (info.classes == 0) GTEST_SKIP() << "it has no classes";
  for (const auto& [split, samples] : read_all(*dataset)) {
    for (const Sample& sample : samples) {
      for (std::size_t field = 0; field < info.fields.size(); ++field) {
        if (static_cast<DType>(info.fields[field].dtype) != DType::kInt64) continue;
        const auto* numbers = reinterpret_cast<const std::int64_t*>(sample[field].data() + kMargin);
        const auto count = static_cast<std::ptrdiff_t>((sample[field].size() - 2 * kMargin) / sizeof(std::int64_t));
        EXPECT_GE(*std::min_element(numbers, numbers + count), 0);
        EXPECT_LT(*std::max_element(numbers, numbers + count), static_cast<std::int64_t>(info.classes)) << split;
      }
    }
  }
}

TEST_P(DatasetContractTest, ASampleIsTheSameWheneverAndByWhomeverItIsRead) {
  const auto first = opened();
  if (!first) return;
  const Samples samples = read_all(*first);
  EXPECT_TRUE(read_all(*first, /*backwards=*/true) == samples) << "read again, from the last to the first";
  const auto second = opened();
  EXPECT_TRUE(read_all(*second) == samples) << "read by another process with the same seed";
}

TEST_P(DatasetContractTest, SeveralThreadsReadTheSameBytes) {
  const auto dataset = opened();
  if (!dataset) return;
  const Samples alone = read_all(*dataset);
  std::vector<Samples> together(4);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < together.size(); ++i) {
      threads.emplace_back([&, i] { together[i] = read_all(*dataset, /*backwards=*/i % 2 == 1); });
    }
  }
  for (const Samples& samples : together) EXPECT_TRUE(samples == alone);
}

TEST_P(DatasetContractTest, EveryByteOfASampleIsWrittenAndNoneBesides) {
  const auto dataset = opened();
  if (!dataset) return;
  const DatasetInfo info = dataset->info();
  for (const SplitInfo& split : info.splits) {
    const Sample one = read_sample(*dataset, info, split.name, 0, std::byte{0x00});
    const Sample other = read_sample(*dataset, info, split.name, 0, std::byte{0xff});
    for (std::size_t field = 0; field < one.size(); ++field) {
      const auto zeros = std::span(one[field]), ones = std::span(other[field]);
      const std::size_t bytes = zeros.size() - 2 * kMargin;
      EXPECT_TRUE(std::ranges::equal(zeros.subspan(kMargin, bytes), ones.subspan(kMargin, bytes)))
          << info.fields[field].name << " has bytes that were left as they were";
      for (const std::size_t margin : {std::size_t{0}, kMargin + bytes}) {
        const auto untouched = [](std::byte wanted) { return [wanted](std::byte byte) { return byte == wanted; }; };
        EXPECT_TRUE(std::ranges::all_of(zeros.subspan(margin, kMargin), untouched(std::byte{0x00}))) << "beside";
        EXPECT_TRUE(std::ranges::all_of(ones.subspan(margin, kMargin), untouched(std::byte{0xff}))) << "beside";
      }
    }
  }
}

TEST_P(DatasetContractTest, NoSampleIsInTwoSplits) {
  const auto dataset = opened();
  if (!dataset) return;
  std::map<Sample, std::string> seen;
  for (const auto& [split, samples] : read_all(*dataset)) {
    for (const Sample& sample : samples) {
      const auto [found, is_new] = seen.emplace(sample, split);
      EXPECT_TRUE(is_new) << "a sample of the split " << split << " is one of the split " << found->second;
    }
  }
}

TEST_P(DatasetContractTest, AnIndexBeyondTheEndIsRefusedWithSplitAndSize) {
  const auto dataset = opened();
  if (!dataset) return;
  const DatasetInfo info = dataset->info();
  for (const SplitInfo& split : info.splits) {
    for (const std::uint64_t index : {split.samples, ~std::uint64_t{0}}) {
      const auto [code, text] = testing::error_of([&] { read_sample(*dataset, info, split.name, index); });
      EXPECT_EQ(code, Code::kInvalidArgument) << text;
      EXPECT_THAT(text, HasSubstr(fmt::format("'{}'", split.name)));
      EXPECT_THAT(text, HasSubstr(fmt::to_string(split.samples)));
      EXPECT_THAT(text, HasSubstr(fmt::to_string(index)));
    }
  }
}

TEST_P(DatasetContractTest, AnUnknownSplitIsRefusedByName) {
  const auto dataset = opened();
  if (!dataset) return;
  const auto [code, text] = testing::error_of([&] { read_sample(*dataset, dataset->info(), "abacus", 0); });
  EXPECT_TRUE(code == Code::kNotFound || code == Code::kInvalidArgument) << text;
  EXPECT_THAT(text, HasSubstr("'abacus'"));
  EXPECT_THAT(text, HasSubstr("dataset '" + GetParam() + "'"));
}

TEST_P(DatasetContractTest, ABrokenFileIsRefusedWithItsPath) {
  const bool reads_files = !std::filesystem::is_empty(folder_.path());
  if (!reads_files) GTEST_SKIP() << "it reads no file";
  EXPECT_FALSE(case_.broken.empty()) << "datasets/" << GetParam()
                                     << "/testing/contract.cpp writes files; let it write a broken one, too";
  for (const DatasetCase::Broken& broken : case_.broken) {
    const auto [code, text] = testing::error_of([&] {
      const auto dataset = make(broken.parameters);
      dataset->open();
      read_all(*dataset);
    });
    EXPECT_TRUE(code == Code::kCorrupt || code == Code::kNotFound || code == Code::kIo)
        << broken.path << ": '" << text << "'";
    EXPECT_THAT(text, HasSubstr(broken.path));
  }
}

TEST_P(DatasetContractTest, IsDescribedWithoutParametersOrData) {
  const PluginEntry& entry = plugins_.load(plugins_.find(Dataset::kKind, GetParam()));
  const std::unique_ptr<Configurable> described(core::PluginLoader::describe(entry, "the contract test"));
  for (const ParameterBase* parameter : described->parameters()) {
    EXPECT_FALSE(parameter->info().help.empty()) << parameter->info().name;
  }
}

INSTANTIATE_TEST_SUITE_P(EveryDataset, DatasetContractTest,
                         ::testing::ValuesIn(testing::plugins_of_kind(Dataset::kKind)),
                         [](const auto& info) { return testing::camel_case(info.param); });

}  // namespace
}  // namespace trainyard
