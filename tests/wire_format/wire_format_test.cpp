// SPDX-License-Identifier: Apache-2.0
// Compares the examples in docs/wire_format.md with real messages, because people write clients in other languages from
// this page.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>

#include "core/transport/ring_offer.h"
#include "messages/control.h"
#include "messages/header.h"
#include "messages/limits.h"
#include "messages/log_record.h"
#include "messages/message_type.h"
#include "messages/plan.h"
#include "messages/prediction.h"
#include "messages/saved_state.h"
#include "messages/subscription.h"

namespace trainyard {
namespace {

using ::testing::HasSubstr;

std::string page() {
  std::ifstream file(TRAINYARD_WIRE_FORMAT_PAGE);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

bool is_byte(const std::string& word) {
  return word.size() == 2 && std::isxdigit(static_cast<unsigned char>(word[0])) != 0 &&
         std::isxdigit(static_cast<unsigned char>(word[1])) != 0;
}

/// Returns the frames in the example of the page. Each line there is the name of a frame, or bytes followed by three
/// spaces and their meaning.
std::map<std::string, std::string> example_frames() {
  const std::string text = page();
  const std::size_t begin = text.find("```hex\n") + 7;
  std::istringstream lines(text.substr(begin, text.find("```", begin) - begin));
  std::map<std::string, std::string> frames;
  std::string name;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line.substr(0, line.find("   ")));
    std::string word;
    words >> word;
    if (!is_byte(word)) {
      name = word;
      continue;
    }
    do frames[name] += static_cast<char>(std::stoi(word, nullptr, 16));
    while (words >> word);
  }
  return frames;
}

Prediction example() {
  Prediction message{.order = 2, .step = 7, .title = "digit", .text = "seven"};
  message.tensors.push_back(Tensor::empty(DType::kUInt8, {2, 2}));
  const unsigned char pixels[] = {10, 20, 30, 40};
  std::memcpy(message.tensors[0].data(), pixels, sizeof pixels);
  message.tensors.push_back({DType::kFloat32, {3}, 0, {}});
  return message;
}

TEST(WireFormatPageTest, ItsExampleIsWhatTheEncoderWrites) {
  std::string body;
  std::vector<Buffer> payloads;
  encode(example(), body, payloads);
  Header header;
  header.payloads = 1;
  header.fingerprint = message_type<Prediction>().fingerprint;
  header.sequence = 5;
  header.source = 3;
  header.send_time_ns = 1'700'000'000'000'000'000;
  header.trace = 9;

  const auto frames = example_frames();
  ASSERT_EQ(frames.size(), 4u);
  EXPECT_EQ(frames.at("topic"), "/predictions");
  EXPECT_EQ(frames.at("header"), std::string(reinterpret_cast<const char*>(&header), sizeof header));
  EXPECT_EQ(frames.at("body"), body);
  ASSERT_EQ(payloads.size(), 1u);
  EXPECT_EQ(frames.at("payload"), std::string(reinterpret_cast<const char*>(payloads[0].data()), payloads[0].size()));
}

/// Returns the schema text as the page shows it, indented by four spaces.
template <Message T>
std::string indented_schema() {
  std::istringstream lines(message_type<T>().schema_text);
  std::string text;
  for (std::string line; std::getline(lines, line);) text += "    " + line + "\n";
  return text;
}

TEST(WireFormatPageTest, ItsSchemasAndFingerprintAreThoseInForce) {
  const std::string text = page();
  EXPECT_THAT(text, HasSubstr(indented_schema<Prediction>()));
  EXPECT_THAT(text, HasSubstr(fmt::format("fingerprint {:016x}", message_type<Prediction>().fingerprint)));
  EXPECT_THAT(text, HasSubstr(indented_schema<Subscribe>()));
  EXPECT_THAT(text, HasSubstr(indented_schema<Subscribed>()));
  EXPECT_THAT(text, HasSubstr(indented_schema<Credit>()));
  EXPECT_THAT(text, HasSubstr(indented_schema<Flush>()));
  EXPECT_THAT(text, HasSubstr(indented_schema<Unsubscribe>()));
  EXPECT_THAT(text, HasSubstr(indented_schema<Ended>()));
}

TEST(WireFormatPageTest, ItsBoundsAreThoseInForce) {
  const std::string text = page();
  EXPECT_THAT(text, HasSubstr(fmt::format("payloads of a message | {} |", kMaxPayloads)));
  EXPECT_THAT(text, HasSubstr(fmt::format("dimensions of a tensor | {} |", kMaxDimensions)));
  EXPECT_THAT(text, HasSubstr(fmt::format("bytes of a topic's name | {} |", kMaxTopicBytes)));
  EXPECT_THAT(text, HasSubstr(fmt::format("bytes of a body | {} MiB |", kMaxBodyBytes >> 20)));
  EXPECT_THAT(text, HasSubstr(fmt::format("types inside types | {} |", kMaxNesting)));
  EXPECT_THAT(text, HasSubstr(fmt::format("bytes of a schema text | {} |", kMaxSchemaBytes)));
  EXPECT_THAT(text, HasSubstr(fmt::format("`window_messages` of a visitor | {} |", kMaxVisitorWindow)));
  EXPECT_THAT(text, HasSubstr(fmt::format("`window_bytes` of a visitor | {} MiB |", kMaxVisitorWindowBytes >> 20)));
  EXPECT_THAT(text, HasSubstr(fmt::format("subscriptions of one connection | {} |", kMaxVisitorSubscriptions)));
  EXPECT_THAT(text, HasSubstr(fmt::format("a client sends to a publisher | {} |", kMaxControlBytes)));
  EXPECT_THAT(text, HasSubstr(fmt::format("one question to the registry | {} MiB |", kMaxQuestionBytes >> 20)));
}

TEST(WireFormatPageTest, ItsDtypesAreThoseInForce) {
  std::string list;
  for (int i = 0; i < 10; ++i) list += fmt::format("{}{} {}", i == 0 ? "" : ", ", i, name_of(static_cast<DType>(i)));
  EXPECT_THAT(page(), HasSubstr(list));
}

/// Returns the structs of a schema as the page shows them: indented, and without the structs that it shows elsewhere.
template <class T>
std::vector<std::string> shown() {
  std::vector<std::string> structs;
  std::istringstream lines(message_type<T>().schema_text);
  for (std::string line; std::getline(lines, line);) {
    if (line.ends_with(" {")) structs.emplace_back();
    structs.back() += "    " + line + "\n";
  }
  return structs;
}

TEST(WireFormatPageTest, ShowsEveryMessageThatMembersAndTheLauncherExchange) {
  const std::string text = page();
  for (const auto& structs :
       {shown<Hello>(), shown<ProcessPlan>(), shown<StateChanged>(), shown<Configured>(), shown<Connect>(),
        shown<Connected>(), shown<Transition>(), shown<Heartbeat>(), shown<Request>(), shown<Reply>(),
        shown<PeerGone>(), shown<RunFinished>(), shown<LogRecord>(), shown<StateRequest>(), shown<StateAnswer>(),
        shown<RestoredStates>(), shown<StatesTaken>(), shown<core::RingOffer>()}) {
    for (const std::string& type : structs) EXPECT_THAT(text, HasSubstr(type));
  }
  EXPECT_THAT(text, HasSubstr(fmt::format("`wire {}`", Header::kVersion)));
}

}  // namespace
}  // namespace trainyard
