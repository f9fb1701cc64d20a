// SPDX-License-Identifier: Apache-2.0
#include "launch/run/announcements.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "core/testing/error_of.h"

namespace trainyard::launch {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class AnnouncementsTest : public ::testing::Test {
 protected:
  json list() {
    json topics = json::array();
    announcements_.append_to(topics, now_);
    return topics;
  }
  std::string refusal(const Announcement& announcement) {
    return trainyard::testing::error_of([&] { announcements_.announce(announcement, now_); }).second;
  }

  Announcements announcements_;
  Announcements::Time now_{std::chrono::hours(1)};
  const Announcement note_{"/note", "Note {\n  string text\n}\n", "ipc:///run/a", "pub 1"};
};

TEST_F(AnnouncementsTest, ListsATopicAsTheRegistryDoes) {
  announcements_.announce(note_, now_);
  const json topic = list().at(0);
  EXPECT_EQ(topic["topic"], "/note");
  EXPECT_EQ(topic["type"], "Note");
  EXPECT_EQ(topic["fingerprint"].get<std::string>().size(), 16u);
  EXPECT_EQ(topic["schema"], note_.schema);
  EXPECT_EQ(topic["publishers"][0]["endpoint"], "ipc:///run/a");
  EXPECT_EQ(topic["publishers"][0]["process"], "pub 1");
  EXPECT_EQ(topic["publishers"][0]["visitor"], true);
  EXPECT_EQ(topic["latched"], false);
}

TEST_F(AnnouncementsTest, ATopicEndsWithItsLease) {
  announcements_.announce(note_, now_);
  now_ += Announcements::kLease - std::chrono::milliseconds(1);
  announcements_.announce(note_, now_);
  now_ += std::chrono::milliseconds(1);
  EXPECT_EQ(list().size(), 1u) << "renewed";
  now_ += Announcements::kLease;
  EXPECT_EQ(list().size(), 0u);
}

TEST_F(AnnouncementsTest, ATopicHasOnePublisherWhichCanWithdrawIt) {
  announcements_.announce(note_, now_);
  Announcement other = note_;
  other.endpoint = "ipc:///run/b";
  EXPECT_EQ(refusal(other), "the topic /note is published by another visitor, pub 1");
  announcements_.withdraw("/note", other.endpoint);
  EXPECT_EQ(list().size(), 1u);
  announcements_.withdraw("/note", note_.endpoint);
  EXPECT_EQ(list().size(), 0u);
  EXPECT_EQ(refusal(other), "");
}

TEST_F(AnnouncementsTest, RefusesWhatIsNotValid) {
  const auto with = [&](auto change) {
    Announcement changed = note_;
    change(changed);
    return refusal(changed);
  };
  for (const std::string& topic : {std::string("note"), std::string("/a b"), std::string("/a//b"), std::string("/"),
                                   "/" + std::string(300, 'a'), std::string("/\x1b[31m")}) {
    EXPECT_THAT(with([&](Announcement& one) { one.topic = topic; }), HasSubstr("is not a topic")) << topic;
  }
  EXPECT_THAT(with([](Announcement& one) { one.schema = "Note"; }), HasSubstr("the schema of the topic /note: "));
  EXPECT_THAT(with([](Announcement& one) { one.schema = ""; }), HasSubstr("the schema of the topic /note: "));
  for (const char* endpoint : {"", "tcp://127.0.0.1:1", "ipc://@abstract"}) {
    EXPECT_THAT(with([&](Announcement& one) { one.endpoint = endpoint; }), HasSubstr("is not an ipc address"));
  }
  EXPECT_THAT(with([](Announcement& one) { one.publisher = ""; }), HasSubstr("needs a name"));
  EXPECT_THAT(with([](Announcement& one) { one.publisher = "a\nb"; }), HasSubstr("needs a name"));
}

TEST_F(AnnouncementsTest, VisitorsPublishABoundedNumberOfTopics) {
  for (std::size_t i = 0; i < Announcements::kMost; ++i) {
    Announcement one = note_;
    one.topic += std::to_string(i);
    announcements_.announce(one, now_);
  }
  EXPECT_THAT(refusal(note_), HasSubstr("64 topics already"));
}

}  // namespace
}  // namespace trainyard::launch
