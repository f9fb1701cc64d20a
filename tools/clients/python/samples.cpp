// SPDX-License-Identifier: Apache-2.0
// Encodes real messages for trainyard_test.py, which has no other encoder to compare the client with. It prints one
// JSON object per line: the type, its schema and fingerprint, the bytes in hexadecimal, and what a client should make
// of them.
#include <fmt/format.h>

#include <cstdio>
#include <cstring>

#include "messages/header.h"
#include "messages/testing/all_messages.h"
#include "messages/testing/oracle.h"
#include "messages/testing/sample.h"

namespace trainyard::testing {
namespace {

std::string hex(const void* data, std::size_t size) {
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += fmt::format("{:02x}", static_cast<const unsigned char*>(data)[i]);
  return text;
}

std::string hex(const std::string& bytes) { return hex(bytes.data(), bytes.size()); }

/// Returns a header with a different number in every field.
Header header_of(const MessageType& type, std::size_t payloads) {
  Header header;
  header.payloads = static_cast<std::uint16_t>(payloads);
  header.fingerprint = type.fingerprint;
  header.sequence = 41;
  header.source = 3;
  header.send_time_ns = 1'700'000'000'000'000'001;
  header.trace = 77;
  return header;
}

template <Message T>
void print(const T& message) {
  const MessageType& type = message_type<T>();
  std::string body;
  std::vector<Buffer> payloads;
  encode(message, body, payloads);
  nlohmann::ordered_json line = {
      {"type", type.name}, {"schema", type.schema_text},          {"fingerprint", type.fingerprint}, {"header", ""},
      {"body", hex(body)}, {"payloads", nlohmann::json::array()}, {"message", oracle(message)}};
  const Header header = header_of(type, payloads.size());
  line["header"] = hex(&header, sizeof header);
  for (const Buffer& payload : payloads) line["payloads"].push_back(hex(payload.data(), payload.size()));
  std::puts(line.dump(-1, ' ', true).c_str());
}

Prediction prediction() {
  Prediction message;
  message.title = "two tensors of one buffer";
  message.tensors.push_back(Tensor::empty(DType::kUInt8, {2, 3}));
  std::memcpy(message.tensors[0].data(), "abcdef", 6);
  message.tensors.push_back({DType::kInt16, {2}, 2, message.tensors[0].buffer});
  return message;
}

}  // namespace
}  // namespace trainyard::testing

int main() {
  using namespace trainyard;
  // These are messages that a client must be able to write, with the values that trainyard.py gives them.
  testing::print(Subscribe{.topic = "/metrics", .window_messages = 4, .window_bytes = 1 << 20});
  testing::print(Credit{.subscription = 0, .messages = 2, .bytes = 99});
  testing::print(testing::prediction());
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    testing::for_each_message([seed]<class T>() { testing::print(testing::sample<T>(seed)); });
  }
  return 0;
}
