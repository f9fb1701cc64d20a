// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>

#include "core/plugin/loader.h"
#include "core/testing/error_of.h"
#include "core/testing/plugins.h"
#include "messages/dtype.h"
#include "messages/tensor.h"
#include "transforms/testing/contract.h"
#include "transforms/transform.h"

// Tests the rules that every transform must obey, on all transform plugins of the build, including those that are added
// later.

namespace trainyard {
namespace {

using ::testing::HasSubstr;
using Bytes = std::vector<std::byte>;

constexpr std::size_t kMargin = 64;
constexpr std::uint64_t kKeys = 20;

/// Returns fields of all kinds that datasets have. A transform need not accept all of them.
std::vector<DatasetField> fields() {
  const auto field = [](DType dtype, std::vector<std::int64_t> shape) {
    return DatasetField{"input", static_cast<std::uint8_t>(dtype), std::move(shape)};
  };
  return {field(DType::kUInt8, {3, 8, 8}), field(DType::kFloat32, {1, 8, 8}), field(DType::kUInt8, {8, 8}),
          field(DType::kFloat32, {6}),     field(DType::kInt64, {}),          field(DType::kInt64, {8})};
}

std::size_t bytes_of(const DatasetField& field) { return checked_bytes(static_cast<DType>(field.dtype), field.shape); }

std::string text_of(const DatasetField& field) {
  return std::string(name_of(static_cast<DType>(field.dtype))) + " " + to_text(field.shape);
}

/// Returns a sample of the field, with small numbers that differ from element to element.
Bytes sample_of(const DatasetField& field) {
  Bytes bytes(bytes_of(field));
  const auto fill = [&]<class T>(T) {
    auto* numbers = reinterpret_cast<T*>(bytes.data());
    for (std::size_t i = 0; i < bytes.size() / sizeof(T); ++i) numbers[i] = static_cast<T>(i % 100);
  };
  switch (static_cast<DType>(field.dtype)) {
    case DType::kFloat32:
      fill(float{});
      break;
    case DType::kInt64:
      fill(std::int64_t{});
      break;
    default:
      fill(std::uint8_t{});
      break;
  }
  return bytes;
}

class TransformContractTest : public ::testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Transform> make() {
    context_.where = "transform '" + GetParam() + "'";
    context_.parameters = case_.parameters;
    auto transform = plugins_.create<Transform>(GetParam(), context_);
    transform->check_all_given_are_known();
    return transform;
  }

  /// A transform that is prepared for a field, and the resulting field.
  struct Prepared {
    DatasetField input;
    DatasetField output;
    std::unique_ptr<Transform> transform;

    /// Applies the transform with the random numbers of `key`, or without random numbers if `key` is 0. Before that,
    /// fills the output and the margins around it with `fill`.
    Bytes apply(std::uint64_t key, std::byte fill = {}) const {
      const Bytes sample = sample_of(input);
      Bytes result(bytes_of(output) + 2 * kMargin, fill);
      TransformRandom random(key);
      transform->apply(sample, std::span(result).subspan(kMargin, bytes_of(output)), key == 0 ? nullptr : &random);
      return result;
    }
  };

  /// Returns a prepared transform for every field that the transform accepts. If it accepts none, makes the test fail.
  std::vector<Prepared> prepared() {
    std::vector<Prepared> all;
    std::string refusals;
    for (const DatasetField& field : fields()) {
      try {
        auto transform = make();
        DatasetField output = transform->prepare(field);
        all.push_back({field, std::move(output), std::move(transform)});
      } catch (const Error& error) {
        refusals += std::string("\n  ") + error.what();
      }
    }
    EXPECT_FALSE(all.empty()) << "the transform '" << GetParam() << "' takes none of the contract's fields with the "
                              << "parameters " << case_.parameters << ":" << refusals << "\nAdd the file transforms/"
                              << GetParam() << "/testing/contract.cpp with a TransformContract that gives parameters; "
                              << "transforms/center_crop/testing/contract.cpp shows how.";
    return all;
  }

  testing::TemporaryFolder folder_;
  testing::TransformCase case_ = testing::TransformContract::of(GetParam(), folder_);
  core::PluginLoader plugins_{core::PluginLoader::default_directories()};
  TransformContext context_;
};

TEST_P(TransformContractTest, AFieldIsTakenOrRefusedWithWhatIsGivenAndWhatIsAllowed) {
  for (const DatasetField& field : fields()) {
    const auto [code, text] = testing::error_of([&] { make()->prepare(field); });
    if (text.empty()) continue;
    EXPECT_TRUE(code == Code::kShapeMismatch || code == Code::kInvalidArgument) << text;
    EXPECT_THAT(text, HasSubstr("transform '" + GetParam() + "'"));
    EXPECT_THAT(text, HasSubstr(text_of(field)));
    EXPECT_THAT(text, HasSubstr("allowed:"));
  }
}

TEST_P(TransformContractTest, TheFieldKeepsItsNameAndGetsAShapeThatCanBe) {
  for (const Prepared& one : prepared()) {
    EXPECT_EQ(one.output.name, "input") << text_of(one.input);
    EXPECT_GT(bytes_of(one.output), 0u) << text_of(one.input);
  }
}

TEST_P(TransformContractTest, EveryByteOfTheResultIsWrittenAndNoneBesides) {
  for (const Prepared& one : prepared()) {
    for (const std::uint64_t key : {std::uint64_t{0}, std::uint64_t{5}}) {
      const Bytes zeros = one.apply(key, std::byte{0x00}), ones = one.apply(key, std::byte{0xff});
      const std::size_t end = kMargin + bytes_of(one.output);
      EXPECT_TRUE(
          std::equal(zeros.begin() + kMargin, zeros.begin() + static_cast<std::ptrdiff_t>(end), ones.begin() + kMargin))
          << text_of(one.input) << " leaves bytes as they were";
      for (std::size_t i = 0; i < kMargin; ++i) {
        ASSERT_TRUE(zeros[i] == std::byte{0x00} && zeros[end + i] == std::byte{0x00}) << "written beside";
        ASSERT_TRUE(ones[i] == std::byte{0xff} && ones[end + i] == std::byte{0xff}) << "written beside";
      }
    }
  }
}

TEST_P(TransformContractTest, TheSameKeyMakesTheSameOfASample) {
  const std::vector<Prepared> first = prepared();
  const std::vector<Prepared> second = prepared();
  for (std::size_t i = 0; i < first.size(); ++i) {
    EXPECT_TRUE(second[i].output.shape == first[i].output.shape && second[i].output.dtype == first[i].output.dtype);
    for (std::uint64_t key = 0; key < kKeys; ++key) {
      const Bytes once = first[i].apply(key);
      EXPECT_TRUE(first[i].apply(key) == once) << "again, key " << key;
      EXPECT_TRUE(second[i].apply(key) == once) << "in another process, key " << key;
    }
  }
}

TEST_P(TransformContractTest, SeveralThreadsMakeTheSame) {
  for (const Prepared& one : prepared()) {
    std::vector<Bytes> alone;
    for (std::uint64_t key = 0; key < kKeys; ++key) alone.push_back(one.apply(key));
    std::vector<std::vector<Bytes>> together(4);
    {
      std::vector<std::jthread> threads;
      for (auto& results : together) {
        threads.emplace_back([&] {
          for (std::uint64_t key = 0; key < kKeys; ++key) results.push_back(one.apply(key));
        });
      }
    }
    for (const auto& results : together) EXPECT_TRUE(results == alone) << text_of(one.input);
  }
}

TEST_P(TransformContractTest, IsDescribedWithoutParameters) {
  const PluginEntry& entry = plugins_.load(plugins_.find(Transform::kKind, GetParam()));
  const std::unique_ptr<Configurable> described(core::PluginLoader::describe(entry, "the contract test"));
  EXPECT_NE(described->find_parameter("field"), nullptr) << "every transform says which field it changes";
}

INSTANTIATE_TEST_SUITE_P(EveryTransform, TransformContractTest,
                         ::testing::ValuesIn(testing::plugins_of_kind(Transform::kKind)),
                         [](const auto& info) { return testing::camel_case(info.param); });

}  // namespace
}  // namespace trainyard
