// SPDX-License-Identifier: Apache-2.0
#include "components/data_loader/same_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "components/data_loader/data_loader_testing.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using testing::Numbers;

/// Returns the description of the dataset that `control` defines.
std::string data_of(const std::shared_ptr<Numbers::Control>& control) {
  DatasetContext context;
  context.parameters = "{}";
  const Numbers numbers(context, control);
  return describe_data(numbers, numbers.info());
}

/// A dataset whose samples differ each time they are read, such as that of a camera.
class Noise final : public Dataset {
 public:
  explicit Noise(DatasetContext& context) : Dataset(context) {}
  void open() override {}
  DatasetInfo info() const override {
    DatasetInfo info;
    info.splits = {{"train", 10}};
    info.fields = {{"number", static_cast<std::uint8_t>(DType::kInt64), {}}};
    return info;
  }
  void read(std::string_view, std::uint64_t, std::span<const std::span<std::byte>> fields) const override {
    ++reads_;
    std::memcpy(fields[0].data(), &reads_, sizeof reads_);
  }

 private:
  mutable std::int64_t reads_ = 0;
};

TEST(SameDataTest, TheDescriptionIsTheSameForTheSameData) {
  const auto control = std::make_shared<Numbers::Control>();
  EXPECT_THAT(data_of(control),
              MatchesRegex("train with 100 samples, validate with 25 samples\ntrain [0-9a-f]+, validate [0-9a-f]+"));
  EXPECT_EQ(data_of(control), data_of(std::make_shared<Numbers::Control>()));
  control->splits["train"] = 99;
  EXPECT_NE(data_of(control), data_of(std::make_shared<Numbers::Control>()));
}

TEST(SameDataTest, OnlySamplesThatStayTheSameAndCanBeReadAreCompared) {
  DatasetContext context;
  context.parameters = "{}";
  const Noise noise(context);
  EXPECT_EQ(describe_data(noise, noise.info()), "train with 10 samples\ntrain -");
  const auto control = std::make_shared<Numbers::Control>();
  control->broken = 99;
  control->splits = {{"train", 100}, {"validate", 0}};
  EXPECT_THAT(data_of(control),
              MatchesRegex("train with 100 samples, validate with 0 samples\ntrain -, validate [0-9a-f]+"));
}

TEST(SameDataTest, ADifferenceIsFoundAsSoonAsTheNoteIsThere) {
  core::EventLoop loop("test");
  const auto notes = core::make_local_rendezvous();
  std::string found;
  const auto fail = [](const std::string& objection) { FAIL() << objection; };
  const SameData equal(loop, *notes, "data/x", "train with 2 samples\ntrain 12", fail);
  const SameData smaller(loop, *notes, "data/x", "train with 1 samples\ntrain 11", fail);
  const SameData other(loop, *notes, "data/x", "train with 2 samples\ntrain 34", [&](const std::string& objection) {
    found = objection;
    loop.stop();
  });
  EXPECT_EQ(found, "");
  notes->put("data/x", "train with 2 samples\ntrain 12");
  loop.run();
  EXPECT_THAT(
      found, AllOf(HasSubstr("other samples than rank 0, although as many: train with 2 samples; some of them have the "
                             "fingerprint train 34 here, and train 12 on rank 0"),
                   HasSubstr("the same files")));
}

}  // namespace
}  // namespace trainyard
