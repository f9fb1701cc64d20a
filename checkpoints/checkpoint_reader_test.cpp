// SPDX-License-Identifier: Apache-2.0
#include "checkpoints/checkpoint_reader.h"

#include <gtest/gtest.h>

#include "checkpoints/durable_file.h"
#include "checkpoints/safetensors.h"
#include "checkpoints/testing/files.h"

namespace trainyard::checkpoints {
namespace {

namespace fs = std::filesystem;
using testing::error_of;
using testing::TemporaryDirectory;

FileDigest write_durable(const std::string& path, const std::string& text) {
  DurableFile file(path);
  file.write(text);
  return file.close();
}

/// Writes a checkpoint of two parameters and their optimizer state with the functions of this folder.
void write_checkpoint(const std::string& path) {
  fs::create_directory(path);
  const std::vector<float> weight(6, 1), bias(2, 2), moment(2, 0.5f);
  const auto tensor = [](std::string name, const std::vector<float>& values) {
    return SafetensorsTensor{
        std::move(name), DType::kFloat32, {static_cast<std::int64_t>(values.size())}, std::as_bytes(std::span(values))};
  };
  const RunRecord run{.step = 20, .model = "mlp", .optimizer = "adamw", .time = utc_now()};
  Manifest manifest{.trainyard = "0.1"};
  const auto in = [&](const char* name) { return path + "/" + name; };
  manifest.files[kModelFile] =
      write_safetensors(in(kModelFile), {tensor("weight", weight), tensor("bias", bias)}, {{"format", "trainyard"}});
  manifest.files[kOptimizerFile] = write_safetensors(in(kOptimizerFile), {tensor("exp_avg/bias", moment)}, {});
  manifest.files[kRunFile] = write_durable(in(kRunFile), format_run_record(run));
  write_durable(in(kManifestFile), format_manifest(manifest));
}

class CheckpointReaderTest : public ::testing::Test {
 protected:
  CheckpointReaderTest() : path_(directory_ / checkpoint_name(20)) {
    write_checkpoint(path_);
    fs::create_symlink(checkpoint_name(20), directory_ / "last");
  }

  TemporaryDirectory directory_;
  std::string path_;
};

TEST_F(CheckpointReaderTest, SummaryTellsEverythingButTheNumbers) {
  const CheckpointSummary summary = read_checkpoint(path_);
  EXPECT_EQ(summary.run.step, 20u);
  EXPECT_EQ(summary.run.optimizer, "adamw");
  EXPECT_EQ(summary.model.tensors.size(), 2u);
  ASSERT_TRUE(summary.optimizer);
  EXPECT_NE(summary.optimizer->find("exp_avg/bias"), nullptr);
  EXPECT_EQ(summary.model.metadata.at("format"), "trainyard");
  EXPECT_EQ(summary.manifest.files.size(), 3u);
  EXPECT_GT(summary.bytes, 500u);
}

TEST_F(CheckpointReaderTest, AWholeCheckpointHasNoProblems) {
  EXPECT_EQ(verify_checkpoint(path_), std::vector<std::string>{});
}

TEST_F(CheckpointReaderTest, AFlippedBitIsFound) {
  testing::flip_byte(path_ + "/model.safetensors", 1);
  const auto problems = verify_checkpoint(path_);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("/model.safetensors was changed: its SHA-256 is "), std::string::npos) << problems[0];
}

TEST_F(CheckpointReaderTest, ATruncatedAndAMissingFileAreFoundTogether) {
  fs::resize_file(path_ + "/model.safetensors", 10);
  fs::remove(path_ + "/optimizer.safetensors");
  const auto problems = verify_checkpoint(path_);
  ASSERT_EQ(problems.size(), 2u);
  EXPECT_NE(problems[0].find("/model.safetensors has 10 bytes, the manifest says "), std::string::npos);
  EXPECT_EQ(problems[1], "there is no file " + path_ + "/optimizer.safetensors");
}

TEST_F(CheckpointReaderTest, EveryByteOfEveryFileCounts) {
  for (const auto& entry : fs::directory_iterator(path_)) {
    const std::string file = entry.path().string(), good = testing::read_file(file);
    // The manifest contains no hash of itself, so not every change in it can be detected.
    if (entry.path().filename() == kManifestFile) continue;
    for (std::size_t i = 0; i < good.size(); i += 7) {
      std::string bad = good;
      bad[i] ^= 4;
      testing::write_file(file, bad);
      EXPECT_FALSE(verify_checkpoint(path_).empty()) << file << " byte " << i;
    }
    testing::write_file(file, good);
  }
  EXPECT_TRUE(verify_checkpoint(path_).empty());
}

TEST_F(CheckpointReaderTest, ABrokenManifestNeverThrows) {
  const std::string file = path_ + "/manifest.json", good = testing::read_file(file);
  for (std::size_t size = 0; size + 2 < good.size(); size += 3) {
    testing::write_file(file, good.substr(0, size));
    EXPECT_EQ(verify_checkpoint(path_).size(), 1u);
  }
}

TEST_F(CheckpointReaderTest, AManifestCannotNameFilesElsewhere) {
  const std::string manifest = R"({"format":1,"trainyard":"0.1","files":{"../../etc/passwd":{"bytes":1,"sha256":""}}})";
  EXPECT_EQ(error_of([&] { parse_manifest(manifest, "m"); }), "m: '../../etc/passwd' is not a plain file name");
}

TEST_F(CheckpointReaderTest, ANewerFormatIsRefusedWithBothNumbers) {
  EXPECT_EQ(error_of([] { parse_manifest(R"({"format":3,"trainyard":"9","files":{}})", "m"); }),
            "m: checkpoint format 3; this version reads up to 2");
}

TEST_F(CheckpointReaderTest, FindsTheLastOfADirectory) {
  EXPECT_EQ(find_checkpoint(path_), path_);
  EXPECT_EQ(find_checkpoint(directory_.path()), path_);
  fs::remove(directory_ / "last");
  EXPECT_EQ(find_checkpoint(directory_.path()), path_);
  EXPECT_NE(error_of([&] { find_checkpoint(directory_ / "none"); }).find("no checkpoint at"), std::string::npos);
}

TEST_F(CheckpointReaderTest, APointerThatLeadsElsewhereIsNotFollowed) {
  fs::remove(directory_ / "last");
  fs::create_symlink("../../etc", directory_ / "last");
  EXPECT_FALSE(follow_pointer(directory_.path(), "last"));
}

TEST(CheckpointNameTest, NamesSortByStepAndReadBack) {
  EXPECT_EQ(checkpoint_name(2000), "step-00002000");
  EXPECT_EQ(step_of_name("step-00002000"), 2000u);
  EXPECT_EQ(step_of_name("step-00002000.2"), 2000u);
  EXPECT_EQ(step_of_name("step-123456789012"), 123456789012u);
  for (const char* other : {"step-", "step-1x", "step-1.", "step-1.x", "last", ".tmp-step-00000001-1-0"}) {
    EXPECT_FALSE(step_of_name(other)) << other;
  }
}

}  // namespace
}  // namespace trainyard::checkpoints
