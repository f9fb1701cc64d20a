// SPDX-License-Identifier: Apache-2.0
// Tests runs that are resumed from a checkpoint: the results are bit-identical to those of a run that was not
// interrupted, every sample of the epoch is used once, and other data is refused.

#include <gmock/gmock.h>

#include <fstream>

#include "tests/integration/training/training_fixture.h"

namespace trainyard {
namespace {

using ::testing::AllOf;
using testing::Command;
using ::testing::HasSubstr;
using testing::TrainingTest;

class ResumeTest : public TrainingTest {
 protected:
  using Arguments = std::vector<std::string>;

  std::string resume_from(const std::string& directory, const std::string& checkpoint = "last") const {
    return "component.checkpoint_writer.params.resume=" +
           (directory_ / directory / "checkpoints" / checkpoint).string();
  }
};

/// A kind of training. Each kind has its state in a different place.
struct Kind {
  const char* name;
  std::vector<std::string> arguments;
};

class SameBitsTest : public ResumeTest, public ::testing::WithParamInterface<Kind> {};

/// One run makes 60 steps and saves a checkpoint after 30 steps; another run resumes from it. Both must write the same
/// files in the end.
TEST_P(SameBitsTest, ARunThatIsResumedEndsWithTheBitsOfOneThatWasNotInterrupted) {
  Arguments arguments{"max_steps=60", "run.checkpoint_every_steps=30",
                      "component.checkpoint_writer.params.keep_last=0"};
  arguments.insert(arguments.end(), GetParam().arguments.begin(), GetParam().arguments.end());
  run_to_end("whole", arguments);
  arguments.push_back(resume_from("whole", "step-00000030"));
  const std::string said = run_to_end("rest", arguments);
  EXPECT_THAT(said, HasSubstr("resumed from"));
  for (const char* file : {"model.safetensors", "optimizer.safetensors", "state.safetensors"}) {
    const std::string path = std::string("/checkpoints/step-00000060/") + file;
    const std::string whole = read("whole" + path);
    EXPECT_FALSE(whole.empty()) << file;
    EXPECT_TRUE(read("rest" + path) == whole) << file;
  }
  const auto all = losses("whole", 60);
  ASSERT_EQ(all.size(), 60u);
  std::vector<std::string> rest;
  for (const testing::TrainedStep& step : steps("rest")) rest.push_back(step.loss);
  EXPECT_EQ(rest, std::vector<std::string>(all.begin() + 30, all.end()));
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, SameBitsTest,
    ::testing::Values(
        Kind{"single", {}},
        Kind{"device", {"placement=composed", "component.accelerator_host.params.accelerator={plugin=\"simulated\"}"}},
        Kind{"diloco", {"devices=2", "strategy={plugin=\"diloco\",every_steps=8}"}},
        Kind{"local_sgd", {"devices=2", "strategy={plugin=\"local_sgd\",every_steps=8}"}},
        Kind{"powersgd",
             {"devices=2", "strategy={plugin=\"ddp\",compression=\"powersgd\",powersgd_start_step=5}",
              "placement=ranks"}},
        Kind{"dropout",
             {"devices=2", "strategy=ddp", "placement=composed",
              "component.accelerator_host.params.model={plugin=\"convnet\",channels=[4],hidden=16,dropout=0.5}",
              "component.data_loader.params.dataset={plugin=\"synthetic\",shape=[1,8,8],classes=10,noise=4.0}"}},
        Kind{"dropout_in_processes",
             {"devices=2", "strategy=zero1", "placement=ranks",
              "component.accelerator_host.params.model={plugin=\"convnet\",channels=[4],hidden=16,dropout=0.5}",
              "component.data_loader.params.dataset={plugin=\"synthetic\",shape=[1,8,8],classes=10,noise=4.0}"}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST_F(ResumeTest, EarlyStoppingKeepsItsBestValueAndItsPatience) {
  // No validation is better than the first by the required difference, so the run ends after 1 + 4 validations.
  const Arguments arguments{"max_steps=1000", "run.validate_every_steps=10", "run.early_stopping_patience=4",
                            "run.early_stopping_min_delta=1000", "component.checkpoint_writer.params.keep_last=0"};
  EXPECT_THAT(run_to_end("whole", arguments), HasSubstr("has not improved for 4 validations"));
  ASSERT_EQ(steps("whole").size(), 50u);
  Arguments rest = arguments;
  rest.push_back(resume_from("whole", "step-00000030"));
  EXPECT_THAT(run_to_end("rest", rest), HasSubstr("has not improved for 4 validations"));
  EXPECT_EQ(steps("rest").back().step, 50u);
}

TEST_F(ResumeTest, AnEpochGoesOnWithAnotherBatchSizeOrOtherRanksAndUsesEverySampleOnce) {
  const Arguments common{"max_epochs=1", "component.data_loader.params.drop_last=false",
                         "component.data_loader.params.dataset={plugin=\"synthetic\",features=32,samples=1000}"};
  Arguments first = common;
  first.insert(first.end(), {"max_steps=50", "component.data_loader.params.batch_size=10"});
  run_to_end("first", first);
  const auto rest = [&](const std::string& name, Arguments changed) {
    Arguments arguments = common;
    arguments.insert(arguments.end(), {"max_steps=-1", resume_from("first")});
    arguments.insert(arguments.end(), changed.begin(), changed.end());
    run_to_end(name, arguments);
    EXPECT_THAT(read(name + "/metrics.jsonl"), HasSubstr("\"samples\":1000,")) << name;
    return steps(name).back().step;
  };
  const auto batch = [](int size) { return "component.data_loader.params.batch_size=" + std::to_string(size); };
  EXPECT_EQ(rest("twenty", {batch(20)}), 75u);
  EXPECT_EQ(rest("thirty", {batch(30)}), 67u);
  EXPECT_EQ(rest("five", {batch(5)}), 150u);
  EXPECT_EQ(rest("ranks", {batch(10), "devices=3", "strategy=ddp"}), 67u);
}

TEST_F(ResumeTest, AnotherSeedIsRefusedUnlessItIsAcceptedByName) {
  run_to_end("first", {"max_steps=5"});
  const Arguments other{"max_steps=10", "run.seed=7", resume_from("first")};
  EXPECT_THAT(run_to_end("refused", other, 1),
              AllOf(HasSubstr("the seed is 1 there and 7 here"), HasSubstr("may_differ = [\"seed\"]")));
  Arguments accepted = other;
  accepted.push_back("run.may_differ=[\"seed\"]");
  EXPECT_THAT(run_to_end("accepted", accepted), HasSubstr("accepted by may_differ: the seed is 1 there and 7 here"));
}

TEST_F(ResumeTest, APredictionWithAnotherVocabularyIsRefused) {
  const auto text = [this](const char* name, const char* letters) {
    std::ofstream file(directory_ / name);
    for (int i = 0; i < 200; ++i) file << letters[(i + i / 7) % 5];
    return "component.data_loader.params.dataset={plugin=\"text\",context=8,path=\"" + (directory_ / name).string() +
           "\"}";
  };
  const Arguments model{
      "component.accelerator_host.params.model={plugin=\"gpt\",layers=1,heads=1,width=8,sample_tokens=20}"};
  Arguments first = model;
  first.insert(first.end(), {"max_steps=3", text("first.txt", "abcde")});
  run_to_end("first", first);
  Arguments other = model;
  other.insert(other.end(),
               {"run.mode=predict", "run.predict_split=", text("other.txt", "vwxyz"), resume_from("first")});
  EXPECT_THAT(run_to_end("refused", other, 1),
              AllOf(HasSubstr("number 0 is \"a\" there and \"v\" here"), HasSubstr("may_differ = [\"vocabulary\"]")));
  Arguments same = model;
  same.insert(same.end(), {"run.mode=predict", "run.predict_split=", text("same.txt", "edcba"), resume_from("first")});
  run_to_end("same", same);
}

TEST_F(ResumeTest, AllSamplesOfTheTrainingSplitArePredicted) {
  run_to_end("predicted", {"run.mode=predict", "run.predict_split=train", "max_steps=1",
                           "component.data_loader.params.dataset={plugin=\"synthetic\",features=32,samples=2}"});
  EXPECT_THAT(read("predicted/metrics.jsonl"), HasSubstr("\"kind\":\"prediction\""));
}

TEST_F(ResumeTest, TheStateOfComponentsOfOnesOwnIsKept) {
  const char* keeper = "[component.keeper]\nplugin = \"keeper\"\n";
  const Arguments two{"max_steps=20", "run.checkpoint_every_steps=10", "devices=2", "strategy=ddp"};
  run_to_end("first", two, 0, keeper);
  Arguments again = two;
  again.insert(again.end(), {"max_steps=25", resume_from("first")});
  EXPECT_THAT(run_to_end("again", again, 0, keeper), AllOf(HasSubstr("keeper of rank0/keeper: was in 2 checkpoints"),
                                                           HasSubstr("keeper of rank1/keeper: was in 2 checkpoints")));
  // If the component is missing, the run reports whose state is not used. If there are more ranks, it reports which of
  // them begin without state.
  EXPECT_THAT(run_to_end("without", {"max_steps=25", resume_from("first")}),
              AllOf(HasSubstr("has the state of 'keeper', which nothing in this run takes back"),
                    HasSubstr("was made by 2 ranks, this run has 1")));
  again[2] = "devices=3";
  EXPECT_THAT(run_to_end("three", again, 0, keeper), AllOf(HasSubstr("keeper of rank1/keeper: was in 2 checkpoints"),
                                                           HasSubstr("keeper of nobody: was in 2 checkpoints")));
}

}  // namespace
}  // namespace trainyard
