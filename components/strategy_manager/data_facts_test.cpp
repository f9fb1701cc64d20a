// SPDX-License-Identifier: Apache-2.0
#include "components/strategy_manager/data_facts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "messages/error.h"

namespace trainyard::manager {
namespace {

using ::testing::HasSubstr;

class DataFactsTest : public ::testing::Test {
 protected:
  /// Returns the error text of resuming with the data `now_`, or an empty text if there is no error.
  std::string refusal(RunMode mode = RunMode::kFit, const std::vector<std::string>& may_differ = {}) {
    const RestoredStates saved{.path = "step-7", .states = data_state(then_)};
    try {
      check_same_data(StateReader(saved, kDataState, 0), now_,
                      {.mode = mode, .evaluate_splits = {}, .may_differ = differences_named(may_differ)},
                      [this](const std::string& text) { accepted_.push_back(text); });
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }

  DatasetInfo then_{.dataset = "text",
                    .splits = {{.name = "train", .samples = 1000, .batches = 10}},
                    .classes = 3,
                    .vocabulary = {"a", "b", "\xff"},
                    .learnt = {{"mean", "0.5"}},
                    .seed = 1,
                    .sampling = "shuffle"};
  DatasetInfo now_ = then_;
  std::vector<std::string> accepted_;
};

TEST_F(DataFactsTest, TheSameDataIsAccepted) {
  now_.splits[0].batches = 20;  // The batch size may differ.
  EXPECT_EQ(refusal(), "");
  EXPECT_TRUE(accepted_.empty());
}

TEST_F(DataFactsTest, AnotherSeedIsRefusedUnlessItIsAcceptedByName) {
  now_.seed = 2;
  EXPECT_EQ(refusal(),
            "the data of this run is not that of the checkpoint it resumes: the seed is 1 there and 2 here; allowed: "
            "the same data, or may_differ = [\"seed\"] in [run], which accepts the difference");
  EXPECT_EQ(refusal(RunMode::kFit, {"seed"}), "");
  EXPECT_THAT(accepted_, ::testing::ElementsAre(HasSubstr("the seed is 1 there and 2 here")));
  EXPECT_EQ(refusal(RunMode::kValidate), "") << "an evaluation has no position to keep";
}

TEST_F(DataFactsTest, AnotherDatasetOrOrderIsRefused) {
  now_.splits[0].samples = 999;
  now_.sampling = "sequential";
  EXPECT_THAT(refusal(), HasSubstr("sampling is shuffle there and sequential here; the number of training samples is "
                                   "1000 there and 999 here; allowed: the same data, or may_differ = [\"sampling\", "
                                   "\"dataset\"]"));
  EXPECT_THAT(refusal(RunMode::kFit, {"sampling"}), HasSubstr("may_differ = [\"dataset\"]"));
}

TEST_F(DataFactsTest, AnotherVocabularyIsRefusedInEveryMode) {
  now_.vocabulary[1] = "c";
  for (const RunMode mode : {RunMode::kFit, RunMode::kValidate, RunMode::kTest, RunMode::kPredict}) {
    EXPECT_THAT(refusal(mode), HasSubstr("the vocabulary has 3 entries there and 3 here, and number 1 is \"b\" there "
                                         "and \"c\" here"));
  }
  EXPECT_EQ(refusal(RunMode::kPredict, {"vocabulary"}), "");
}

TEST_F(DataFactsTest, WhatTheDatasetHasLearntIsCompared) {
  now_.learnt["mean"] = "0.6";
  EXPECT_THAT(refusal(RunMode::kPredict),
              HasSubstr(R"(the dataset has learnt {"mean":"0.5"} there and {"mean":"0.6"} here)"));
}

TEST_F(DataFactsTest, AMistypedDifferenceIsRefusedWithTheNearest) {
  EXPECT_THAT(
      refusal(RunMode::kFit, {"sead"}),
      HasSubstr("may_differ has 'sead', which is not a known difference from a checkpoint; did you mean 'seed'?"));
}

}  // namespace
}  // namespace trainyard::manager
