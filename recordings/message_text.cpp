// SPDX-License-Identifier: Apache-2.0
#include "recordings/message_text.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "messages/error.h"
#include "messages/limits.h"
#include "messages/printable.h"
#include "messages/recorded_json.h"
#include "recordings/base64.h"

namespace trainyard::recordings {
namespace {

using nlohmann::json;

void append_key(std::string& out, std::string_view key) {
  if (out.back() != '{') out += ',';
  out += '"';
  out += key;
  out += "\":";
}

void append_trace(std::string& out, std::uint64_t trace) {
  append_key(out, kTraceField);
  char digits[16];
  for (int i = 15; i >= 0; --i, trace >>= 4) digits[i] = "0123456789abcdef"[trace & 15];
  out += '"';
  out.append(digits, sizeof digits);
  out += '"';
}

void append_payloads(std::string& out, std::span<const std::string_view> payloads) {
  append_key(out, kPayloadsField);
  out += '[';
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    out += i == 0 ? "\"" : ",\"";
    append_base64(payloads[i], out);
    out += '"';
  }
  out += ']';
}

std::uint64_t trace_of(const json& value) {
  std::uint64_t trace = 0;
  if (!value.is_string()) return 0;
  const std::string& text = value.get_ref<const std::string&>();
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), trace, 16);
  if (error != std::errc{} || end != text.data() + text.size()) {
    throw Error(Code::kCorrupt, "a recorded message has the trace '{}', which is no hexadecimal number",
                printable(text.substr(0, 40)));
  }
  return trace;
}

std::vector<std::string> payloads_of(const json& value) {
  std::vector<std::string> payloads;
  if (!value.is_array() || value.size() > kMaxPayloads) return payloads;
  for (const json& one : value) {
    auto bytes = one.is_string() ? bytes_of_base64(one.get_ref<const std::string&>()) : std::nullopt;
    if (!bytes) throw Error(Code::kCorrupt, "payload {} of a recorded message is not base64", payloads.size());
    payloads.push_back(std::move(*bytes));
  }
  return payloads;
}

/// Returns how many payloads a message has, according to the descriptions of the tensors in it. (A struct that merely
/// looks like a description is counted, too, which does no harm.) The function is not recursive, because a hostile file
/// could nest values so deeply that the stack overflows.
std::size_t count_payloads(const json& message) {
  std::size_t count = 0;
  std::vector<const json*> open{&message};
  while (!open.empty()) {
    const json& value = *open.back();
    open.pop_back();
    if (value.is_object() && value.contains("dtype") && value.contains("payload")) {
      const json& payload = value["payload"];
      if (payload.is_number_unsigned() && payload < kMaxPayloads)
        count = std::max(count, payload.get<std::size_t>() + 1);
    } else if (value.is_structured()) {
      for (const json& inner : value) open.push_back(&inner);
    }
  }
  return count;
}

json take(json& message, const char* field) {
  const auto found = message.find(field);
  if (found == message.end()) return {};
  json value = std::move(*found);
  message.erase(found);
  return value;
}

}  // namespace

bool uses_reserved_names(const Schema& schema) {
  return std::ranges::any_of(schema.structs.at(0).fields, [](const Field& field) {
    return field.name == kTraceField || field.name == kPayloadsField;
  });
}

void append_message(const Schema& schema, std::span<const std::byte> body, std::uint64_t trace,
                    std::span<const std::string_view> payloads, std::string& out) {
  const std::size_t before = out.size();
  try {
    append_json(schema, body, out);
  } catch (...) {
    out.resize(before);
    throw;
  }
  if (trace == 0 && payloads.empty()) return;
  out.pop_back();  // Removes the closing brace.
  if (trace != 0) append_trace(out, trace);
  if (!payloads.empty()) append_payloads(out, payloads);
  out += '}';
}

RestoredMessage restore_message(const Schema& schema, std::string_view text) {
  try {
    json message = json::parse(text);
    RestoredMessage restored;
    if (!uses_reserved_names(schema)) {
      restored.trace = trace_of(take(message, kTraceField));
      restored.payloads = payloads_of(take(message, kPayloadsField));
    }
    restored.payloads.resize(std::max(restored.payloads.size(), count_payloads(message)));
    restored.body = binary_from_recorded_json(schema, message);
    return restored;
  } catch (const json::exception& error) {
    throw Error(Code::kCorrupt, "a recorded message is not JSON: {}", error.what());
  } catch (const Error& error) {
    throw Error(Code::kCorrupt, "a recorded message does not match its schema: {}", error.what());
  }
}

}  // namespace trainyard::recordings
