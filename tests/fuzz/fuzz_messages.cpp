// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/fuzz_messages.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "messages/error.h"
#include "messages/header.h"
#include "messages/json.h"
#include "messages/testing/all_messages.h"
#include "messages/testing/sample.h"

namespace trainyard::testing {
namespace {

using Body = std::span<const std::byte>;

/// Aborts the program if a promise of a reader is not kept; the fuzzer then reports the input.
void require(bool kept, const char* promise, const char* where) {
  if (kept) return;
  std::fprintf(stderr, "broken promise of %s: %s\n", where, promise);
  std::abort();
}

/// Returns the text of the Error that `read` throws; empty if it throws none. Any other exception ends the program.
template <class Read>
std::string refusal_of(Read read) {
  try {
    read();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

template <class Read>
bool accepts(Read read) {
  return refusal_of(read).empty();
}

/// Returns the payloads to which a body may refer: some bytes, none, and one byte.
std::vector<Buffer> some_payloads() { return {Buffer::heap(256), Buffer::heap(0), Buffer::heap(1)}; }

template <Message T>
void fuzz_type(Body body) {
  T message;
  const std::string refusal = refusal_of([&] { decode(message, body, some_payloads()); });
  const bool decoded = refusal.empty();
  static const Schema schema = SchemaBuilder::build<T>();
  const bool shown = accepts([&] { json_from_binary(schema, body); });
  require(shown || !decoded, "what decodes can be shown as JSON", T::kTypeName);
  const bool has_tensors = message_type<T>().schema_text.find("Tensor") != std::string::npos;
  // A schema describes an enumeration only as a word, so JSON can contain any word.
  const bool unknown_word = refusal.find("has an unknown word") != std::string::npos;
  require(decoded || !shown || has_tensors || unknown_word, "what can be shown as JSON decodes", T::kTypeName);
  if (!decoded) return;
  std::string again;
  std::vector<Buffer> payloads;
  encode(message, again, payloads);
  require(again.size() == body.size(), "what was read is written in as many bytes", T::kTypeName);
  T twice;
  decode(twice, std::as_bytes(std::span(again)), payloads);
  std::string third;
  payloads.clear();
  encode(twice, third, payloads);
  require(third == again, "what was written reads back", T::kTypeName);
}

void fuzz_header(Body body) {
  Header header;
  if (!accepts([&] { header = read_header(body); })) return;
  require(header.magic == Header::kMagic && header.payloads <= 64, "a header is checked", "read_header");
}

/// Reads a schema text and a body, which are separated by a zero byte in the input.
void fuzz_schema(Body input) {
  const std::string_view bytes(reinterpret_cast<const char*>(input.data()), input.size());
  const std::string_view text = bytes.substr(0, bytes.find('\0'));
  Schema schema;
  if (!accepts([&] { schema = parse_schema(text); })) return;
  require(to_text(schema) == text, "one text per schema", "parse_schema");
  to_json_schema(schema);
  const Body body = input.subspan(std::min(text.size() + 1, input.size()));
  std::string json;
  if (!accepts([&] { json = json_from_binary(schema, body); })) return;
  std::string back;
  accepts([&] { back = binary_from_json(schema, json); });
}

/// Reads JSON for a message with fields of every kind.
void fuzz_json(Body input) {
  const std::string_view text(reinterpret_cast<const char*>(input.data()), input.size());
  static const Schema schema = SchemaBuilder::build<Everything>();
  std::string body;
  if (!accepts([&] { body = binary_from_json(schema, text); })) return;
  // This does not throw, because everything that was read from JSON can be shown again.
  json_from_binary(schema, std::as_bytes(std::span(body)));
}

const std::vector<void (*)(Body)>& targets() {
  static const auto all = [] {
    std::vector<void (*)(Body)> made{fuzz_header, fuzz_schema, fuzz_json};
    for_each_message([&]<class T>() { made.push_back(fuzz_type<T>); });
    return made;
  }();
  return all;
}

}  // namespace

std::size_t fuzz_targets() { return targets().size(); }

void fuzz_messages(std::span<const std::uint8_t> input) {
  if (input.empty()) return;
  targets()[input.front() % targets().size()](std::as_bytes(input.subspan(1)));
}

std::vector<std::string> fuzz_corpus() {
  const Header header;
  std::vector<std::string> corpus{std::string(1, '\0') + std::string(reinterpret_cast<const char*>(&header), 56)};
  char target = 3;
  for_each_message([&]<class T>() {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      std::string body;
      std::vector<Buffer> payloads;
      encode(sample<T>(seed), body, payloads);
      corpus.push_back(target + body);
      corpus.push_back('\1' + message_type<T>().schema_text + '\0' + body);
    }
    ++target;
  });
  corpus.push_back('\2' + to_json(Everything{}));
  corpus.push_back(
      std::string("\2{\"table\":{\"a\":[1,-2]},\"f64\":\"NaN\",\"f32\":1e3,\"maybe\":{\"name\":\"\\u00e9\"}}"));
  return corpus;
}

}  // namespace trainyard::testing
