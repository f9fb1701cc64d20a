// SPDX-License-Identifier: Apache-2.0
#include "launch/hosts/notes_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <vector>

#include "core/rendezvous/rendezvous.h"
#include "core/testing/error_of.h"
#include "core/testing/temporary_folder.h"
#include "messages/error.h"

namespace trainyard::launch {
namespace {

/// Tests with two hosts whose folders copy their notes to each other.
class NotesFolderTest : public ::testing::Test {
 protected:
  void serve_until(const std::function<bool()>& condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (!condition() && std::chrono::steady_clock::now() < end) loop_.run_once(std::chrono::milliseconds(10));
    EXPECT_TRUE(condition());
  }

  PollLoop loop_;
  testing::TemporaryFolder folder_;
  std::vector<std::string> spread_;
  NotesFolder here_{loop_, folder_.path() + "/here", [this](const HostNote& note) {
                      spread_.push_back(note.name);
                      there_.add(note);
                    }};
  NotesFolder there_{loop_, folder_.path() + "/there", [this](const HostNote& note) {
                       spread_.push_back(note.name);
                       here_.add(note);
                     }};
  std::unique_ptr<core::Rendezvous> rank_here_ = core::make_folder_rendezvous(folder_.path() + "/here");
  std::unique_ptr<core::Rendezvous> rank_there_ = core::make_folder_rendezvous(folder_.path() + "/there");
};

TEST_F(NotesFolderTest, ANoteOfOneHostIsFoundOnTheOther) {
  rank_here_->put("world/host.0", std::string("a\0b", 3));
  rank_there_->put("world/host.1", "");
  std::string value, other = "none";
  serve_until([&] { return rank_there_->find("world/host.0", value) && rank_here_->find("world/host.1", other); });
  EXPECT_EQ(value, std::string("a\0b", 3));
  EXPECT_EQ(other, "");
}

TEST_F(NotesFolderTest, ANoteTravelsOnlyOnce) {
  for (int i = 0; i < 100; ++i) rank_here_->put("key." + std::to_string(i), "value");
  std::string value;
  serve_until([&] { return rank_there_->find("key.99", value); });
  // Gives the loop time to report the copied notes, which must not be copied back.
  for (int i = 0; i < 10; ++i) loop_.run_once(std::chrono::milliseconds(1));
  EXPECT_EQ(spread_.size(), 100u);
}

TEST_F(NotesFolderTest, ANoteThatIsTooLargeForOtherHostsEndsTheRunInsteadOfStayingHere) {
  rank_here_->put("model/weights", std::string(65537, 'x'));
  const auto error = testing::error_of([&] { serve_until([] { return false; }); });
  EXPECT_EQ(error.first, Code::kUnsupported);
  EXPECT_NE(error.second.find("the note 'model+weights' of 65537 bytes cannot be carried to other hosts"),
            std::string::npos)
      << error.second;
}

TEST_F(NotesFolderTest, WhatIsNoNoteIsRefused) {
  for (const char* name : {"../escape", "", ".hidden", "a/b", "draft~", "a\nb"}) {
    EXPECT_THROW(here_.add({name, "text"}), Error) << name;
  }
  EXPECT_THROW(here_.add({"large", std::string(std::size_t{1} << 20, 'x')}), Error);
  EXPECT_FALSE(std::filesystem::exists(folder_.path() + "/escape"));
}

}  // namespace
}  // namespace trainyard::launch
