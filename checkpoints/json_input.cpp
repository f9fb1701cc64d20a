// SPDX-License-Identifier: Apache-2.0
#include "checkpoints/json_input.h"

#include <set>
#include <vector>

#include "checkpoints/durable_file.h"
#include "messages/error.h"

namespace trainyard::checkpoints {
namespace {

using nlohmann::json;

/// Checks a text without building JSON values from it: refuses repeated keys and nesting that is too deep. (A callback
/// of the parser could check this while it builds the values. But with a callback, the parser examines all siblings
/// again at the end of every object, so a header of 40,000 tensors would take half a minute.)
class Watch : public nlohmann::json_sax<json> {
 public:
  Watch(const std::string& where, int max_depth) : where_(where), max_depth_(max_depth) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_array(std::size_t) override { return open(); }
  bool end_array() override { return close(); }
  bool start_object(std::size_t) override { return open(); }
  bool end_object() override { return close(); }

  bool key(string_t& name) override {
    if (keys_.back().insert(name).second) return true;
    throw Error(Code::kCorrupt, "{}: the key '{}' is given twice", where_, name);
  }

  bool parse_error(std::size_t, const std::string&, const json::exception& error) override {
    throw Error(Code::kCorrupt, "{}: {}", where_, error.what());
  }

 private:
  bool open() {
    if (keys_.size() >= static_cast<std::size_t>(max_depth_)) {
      throw Error(Code::kCorrupt, "{}: JSON nested more than {} deep", where_, max_depth_);
    }
    keys_.emplace_back();
    return true;
  }
  bool close() {
    keys_.pop_back();
    return true;
  }

  const std::string& where_;
  int max_depth_;
  std::vector<std::set<std::string>> keys_;  ///< The keys so far of each enclosing object. A list has an empty set.
};

}  // namespace

json parse_strict_json(std::string_view text, const std::string& where, int max_depth) {
  Watch watch(where, max_depth);
  json::sax_parse(text, &watch);
  try {
    return json::parse(text);
  } catch (const json::exception& error) {
    throw Error(Code::kCorrupt, "{}: {}", where, error.what());
  }
}

std::string read_text_file(const std::string& path, std::uint64_t max_bytes) {
  const InputFile file(path);
  // The size is checked before memory is allocated, because the file may be huge.
  if (file.size() > max_bytes) {
    throw Error(Code::kCorrupt, "{} has {} bytes; at most {} are allowed", path, file.size(), max_bytes);
  }
  std::string text(file.size(), '\0');
  file.read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

const json& member(const json& object, const char* key, const std::string& where) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found == object.end()) throw Error(Code::kCorrupt, "{}: '{}' is missing", where, key);
  return *found;
}

std::uint64_t unsigned_member(const json& object, const char* key, const std::string& where) {
  const json& value = member(object, key, where);
  // Numbers such as 1.0 and -0 are refused, too.
  if (!value.is_number_unsigned()) {
    throw Error(Code::kCorrupt, "{}: '{}' is {}; allowed is a whole number >= 0", where, key, value.dump());
  }
  return value.get<std::uint64_t>();
}

std::string string_member(const json& object, const char* key, const std::string& where) {
  const json& value = member(object, key, where);
  // The error shows the value, so that the user sees what the file contains.
  if (!value.is_string()) throw Error(Code::kCorrupt, "{}: '{}' is {}; allowed is a string", where, key, value.dump());
  return value.get<std::string>();
}

}  // namespace trainyard::checkpoints
