#include "checkpoints/json_input.h"

#include <set>
#include <vector>

#include "checkpoints/durable_file.h"
#include "messages/error.h"

namespace trainyard::checkpoints {
namespace {

using nlohmann::json;

/// Watches a parse: which keys every open object has had, and how deep it goes.
class Watch {
 public:
  Watch(const std::string& where, int max_depth) : where_(where), max_depth_(max_depth) {}

  // `depth` is that of the container around the event: a key belongs to the level that its object opened.
  void see(int depth, json::parse_event_t event, const json& parsed) {
    const bool opens = event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (opens && depth >= max_depth_) {
      throw Error(Code::kCorrupt, "{}: JSON nested more than {} deep", where_, max_depth_);
    }
    const auto level = static_cast<std::size_t>(depth);
    if (event == json::parse_event_t::object_start) {
      keys_.resize(level + 2);
      keys_[level + 1].clear();
    }
    if (event == json::parse_event_t::key && !keys_[level].insert(parsed.get<std::string>()).second) {
      throw Error(Code::kCorrupt, "{}: the key '{}' is given twice", where_, parsed.get<std::string>());
    }
  }

 private:
  const std::string& where_;
  int max_depth_;
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

json parse_strict_json(std::string_view text, const std::string& where, int max_depth) {
  Watch watch(where, max_depth);
  try {
    // The callback sees each event before the tree grows, so a text that nests too deeply is stopped early.
    return json::parse(text, [&](int depth, json::parse_event_t event, json& parsed) {
      watch.see(depth, event, parsed);
      return true;
    });
  } catch (const json::exception& error) {
    throw Error(Code::kCorrupt, "{}: {}", where, error.what());
  }
}

std::string read_text_file(const std::string& path, std::uint64_t max_bytes) {
  const InputFile file(path);
  // This is checked before memory is allocated: a manifest of gigabytes is not a manifest.
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
  // 1.0 and -0 are not counts.
  if (!value.is_number_unsigned()) {
    throw Error(Code::kCorrupt, "{}: '{}' is {}; allowed is a whole number >= 0", where, key, value.dump());
  }
  return value.get<std::uint64_t>();
}

std::string string_member(const json& object, const char* key, const std::string& where) {
  const json& value = member(object, key, where);
  // The value is shown, so that a person sees what somebody has put there.
  if (!value.is_string()) throw Error(Code::kCorrupt, "{}: '{}' is {}; allowed is a string", where, key, value.dump());
  return value.get<std::string>();
}

}  // namespace trainyard::checkpoints
