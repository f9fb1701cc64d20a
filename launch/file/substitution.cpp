// SPDX-License-Identifier: Apache-2.0
#include "launch/file/substitution.h"

#include <cstdlib>
#include <filesystem>

#include "messages/nearest.h"

namespace trainyard::launch {

// Substitution works on values and not on the text of the file. So an inserted text cannot change the structure of the
// file, and a string that consists only of a reference becomes a value of the argument's type.

namespace {

/// The largest depth to which defaults of arguments may refer to other arguments.
constexpr int kMaxReferences = 16;
constexpr std::size_t kMaxTextBytes = 64 << 10;
constexpr std::string_view kEnvironment = "env:";

/// Returns a value as a text that can be part of a longer string. Errors give the position of the string, because that
/// is where the mistake is.
std::string as_text(const Value& value, const std::string& name, const Origin& origin, const std::string& key) {
  if (const auto* text = value.get_if<std::string>()) return *text;
  if (value.get_if<Value::List>() != nullptr || value.get_if<Value::Table>() != nullptr) {
    throw error_at(origin, key, fmt::format("${{{}}} is a list or a table and cannot stand inside a string", name));
  }
  return to_text(value);
}

}  // namespace

/// The position of the string that is being resolved. `depth` is the number of arguments whose defaults are being
/// resolved.
struct Substitution::Place {
  const Origin& origin;
  const std::string& key;
  int depth = 0;

  Error error(std::string_view text) const { return error_at(origin, key, text); }
};

Value Substitution::resolve(const Value& value, const std::string& key) const {
  return resolve(value, Place{value.origin, key});
}

// The recursion is limited by the nesting of the file (text_guard.h) and, for arguments, by kMaxReferences.
Value Substitution::resolve(const Value& value, const Place& place) const {
  if (const auto* text = value.get_if<std::string>()) return resolve_text(*text, place);
  Value out = value;
  if (const auto* list = value.get_if<Value::List>()) {
    auto& elements = std::get<Value::List>(out.data);
    for (std::size_t i = 0; i < list->size(); ++i) {
      elements[i] = resolve((*list)[i], Place{(*list)[i].origin, place.key, place.depth});
    }
  } else if (auto* table = out.get_if<Value::Table>()) {
    for (auto& [name, element] : *table) {
      const std::string key = join_key(place.key, name);
      element = resolve(element, Place{element.origin, key, place.depth});
    }
  }
  return out;
}

// Reads the string once, from left to right. An inserted text is not examined again, so dollar signs in it are kept.
Value Substitution::resolve_text(const std::string& text, const Place& place) const {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t dollar = text.find('$', at);
    out += text.substr(at, dollar - at);
    if (dollar == std::string::npos) break;
    const char next = dollar + 1 < text.size() ? text[dollar + 1] : '\0';
    // Two dollar signs stand for one. A single dollar sign without '{' is kept.
    if (next != '{') {
      out += '$';
      at = dollar + (next == '$' ? 2 : 1);
      continue;
    }
    const std::size_t end = text.find('}', dollar);
    if (end == std::string::npos) throw place.error("\"${\" has no \"}\"; write $$ for a dollar");
    const std::string name = text.substr(dollar + 2, end - dollar - 2);
    Value value = lookup(name, place);
    // The string consists only of the reference, so the result is the value with its type.
    if (dollar == 0 && end + 1 == text.size()) return value;
    out += as_text(value, name, place.origin, place.key);
    if (out.size() > kMaxTextBytes) throw place.error(fmt::format("becomes longer than {} bytes", kMaxTextBytes));
    at = end + 1;
  }
  return {std::move(out), place.origin};
}

Value Substitution::lookup(std::string_view name, const Place& place) const {
  if (name == "file_dir") {
    const std::string folder = std::filesystem::path(place.origin.file).parent_path().string();
    return {folder.empty() ? std::string(".") : folder, place.origin};
  }
  if (name.starts_with(kEnvironment)) {
    const std::string variable(name.substr(kEnvironment.size()));
    // A variable that is not set is an error. With an empty text, `${env:DATA}/mnist` would become "/mnist".
    const char* text = std::getenv(variable.c_str());
    if (text == nullptr) throw place.error(fmt::format("the environment variable '{}' is not set", variable));
    return {std::string(text), place.origin};
  }
  const auto found = arguments_.find(std::string(name));
  if (found == arguments_.end()) {
    throw place.error(fmt::format("no argument is named '{}'{}", name, suggestion(name, known_names())));
  }
  if (place.depth >= kMaxReferences)
    throw place.error(fmt::format("arguments refer to one another without end: '{}'", name));
  Value value = found->second;
  // A value from the file can contain references, too. A value from the command line is taken literally.
  if (!value.origin.file.empty()) value = resolve(value, Place{found->second.origin, place.key, place.depth + 1});
  // Later errors about the value point to the position at which it is used.
  value.origin = place.origin;
  return value;
}

std::vector<std::string> Substitution::known_names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : arguments_) names.push_back(name);
  return names;
}

}  // namespace trainyard::launch
