// SPDX-License-Identifier: Apache-2.0
#include "launch/plan/declaration_reader.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <set>

#include "core/config/bounded_json.h"
#include "messages/error.h"
#include "messages/limits.h"
#include "messages/nearest.h"
#include "messages/printable.h"
#include "messages/schema.h"

namespace trainyard::launch {
namespace {

using nlohmann::json;

constexpr std::size_t kMostEntries = 256;  // The limit for each list.
// The limit for the name of a port, a parameter, a service or the component.
constexpr std::size_t kMostNameBytes = 64;
constexpr std::size_t kMostTextBytes = 4096;  // The limit for a help text.

Error fault(const std::string& path, const std::string& text) {
  return Error(Code::kInvalidArgument, "{}{}{}", path, path.empty() ? "" : ": ", printable(text));
}

std::string shown(const json& value) {
  const std::string text = value.dump(-1, ' ', /*ensure_ascii=*/true, json::error_handler_t::replace);
  return text.size() <= 100 ? text : text.substr(0, 100) + "...";
}

/// A JSON object in the declaration. Its functions throw, with the path of the value, if the value is missing or not
/// allowed.
class Table {
 public:
  Table(const json& value, std::string path, const std::vector<std::string>& known)
      : value_(value), path_(std::move(path)) {
    if (!value.is_object()) throw fault(path_, shown(value) + " is not an object");
    for (const auto& [key, entry] : value.items()) {
      if (std::ranges::find(known, key) != known.end()) continue;
      throw fault(path_, fmt::format("unknown key '{}'{}", key.substr(0, kMostNameBytes), suggestion(key, known)));
    }
  }

  const std::string& path() const { return path_; }
  std::string path(const std::string& key) const { return path_.empty() ? key : path_ + "." + key; }
  const json* find(const std::string& key) const {
    const auto found = value_.find(key);
    return found == value_.end() || found->is_null() ? nullptr : &*found;
  }
  Error refusal(const std::string& key, const std::string& allowed) const {
    return fault(path(key), fmt::format("{} is not allowed; {}", shown(*find(key)), allowed));
  }

  std::string text(const std::string& key, const std::string& fallback, std::size_t most = kMostTextBytes) const {
    const json* value = find(key);
    if (value == nullptr) return fallback;
    if (!value->is_string()) throw refusal(key, "a string");
    if (value->get_ref<const std::string&>().size() > most) throw refusal(key, fmt::format("at most {} bytes", most));
    return value->get<std::string>();
  }

  /// Returns a name, which consists of letters, digits and '_', so that it can be part of topics, keys and commands.
  std::string name(const std::string& key) const {
    if (find(key) == nullptr) throw fault(path(key), "must be given; a name of letters, digits and '_'");
    const std::string name = text(key, "", kMostNameBytes);
    const auto allowed = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; };
    if (name.empty() || !std::ranges::all_of(name, allowed)) throw refusal(key, "a name of letters, digits and '_'");
    return name;
  }

  bool flag(const std::string& key) const {
    const json* value = find(key);
    if (value != nullptr && !value->is_boolean()) throw refusal(key, "true or false");
    return value != nullptr && value->get<bool>();
  }

  std::uint64_t count(const std::string& key, std::uint64_t fallback, std::uint64_t least) const {
    const json* value = find(key);
    if (value == nullptr) return fallback;
    if (!value->is_number_unsigned() || value->get<std::uint64_t>() < least) {
      throw refusal(key, fmt::format("an integer >= {}", least));
    }
    return value->get<std::uint64_t>();
  }

  std::optional<double> number(const std::string& key) const {
    const json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number()) throw refusal(key, "a number");
    return value->get<double>();
  }

  template <Worded E>
  E word(const std::string& key, E fallback) const {
    const json* value = find(key);
    if (value == nullptr) return fallback;
    const auto found = value->is_string() ? find_by_name<E>(value->get<std::string>()) : std::nullopt;
    if (!found) throw refusal(key, "one of: " + fmt::format("{}", fmt::join(kWords<E>.values, ", ")));
    return *found;
  }

  /// Calls `read` with each entry of a list and its path. A missing list counts as empty.
  template <class Read>
  void each(const std::string& key, const Read& read) const {
    const json* list = find(key);
    if (list == nullptr) return;
    if (!list->is_array()) throw refusal(key, "a list");
    if (list->size() > kMostEntries)
      throw fault(path(key), fmt::format("has {} entries; at most {}", list->size(), kMostEntries));
    for (std::size_t i = 0; i < list->size(); ++i) read((*list)[i], fmt::format("{}[{}]", path(key), i));
  }

 private:
  const json& value_;
  std::string path_;
};

/// A schema text, and the type that it describes.
struct Type {
  std::string text;
  std::string name;
};

Type read_schema(const Table& table, const std::string& key) {
  if (table.find(key) == nullptr) throw fault(table.path(key), "must be given; the schema text of a message type");
  Type type{table.text(key, "", kMaxSchemaBytes), ""};
  try {
    type.name = parse_schema(type.text).structs.front().name;
  } catch (const Error& error) {
    throw fault(table.path(key), error.what());
  }
  return type;
}

/// Reads the kind of a parameter. Descriptions of plugins contain its number, and authors of declarations write its
/// name.
ValueKind read_kind(const Table& table) {
  std::vector<std::string> known;
  for (int i = 0; i <= static_cast<int>(ValueKind::kPlugins); ++i) {
    const auto kind = static_cast<ValueKind>(i);
    known.emplace_back(name_of(kind));
    const json* given = table.find("kind");
    if (given != nullptr && (*given == known.back() || *given == i)) return kind;
  }
  if (table.find("kind") == nullptr)
    throw fault(table.path("kind"), fmt::format("must be given; one of: {}", fmt::join(known, ", ")));
  throw table.refusal("kind", fmt::format("one of: {}", fmt::join(known, ", ")));
}

ParameterInfo read_parameter(const json& value, const std::string& path) {
  const Table table(value, path,
                    {"name", "kind", "required", "default", "help", "unit", "choices", "plugin_kind", "settable",
                     "minimum", "minimum_excluded", "maximum"});
  ParameterInfo info;
  info.name = table.name("name");
  info.kind = read_kind(table);
  info.default_json = table.text("default", "");
  info.required = info.default_json.empty();
  if (table.find("required") != nullptr && table.flag("required") != info.required) {
    throw fault(path, "a parameter is either required or has a default, which is JSON in a string, such as \"0.9\"");
  }
  info.help = table.text("help", "");
  info.rules = {.minimum = table.number("minimum"),
                .maximum = table.number("maximum"),
                .minimum_excluded = table.flag("minimum_excluded"),
                .unit = table.text("unit", "", kMostNameBytes),
                .plugin_kind = table.text("plugin_kind", "", kMostNameBytes),
                .settable = table.flag("settable")};
  table.each("choices", [&](const json& choice, const std::string& place) {
    if (!choice.is_string()) throw fault(place, shown(choice) + " is not allowed; a string");
    info.rules.choices.push_back(choice);
  });
  if (info.required) return info;
  const std::optional<json> given = parse_bounded_json(info.default_json);
  if (!given) throw table.refusal("default", "JSON in a string, such as \"0.9\" or \"\\\"mean\\\"\"");
  try {
    check_value(info, *given);
  } catch (const Error& error) {
    throw fault(table.path("default"), error.what());
  }
  return info;
}

core::PortInfo read_port(const json& value, const std::string& path) {
  const Table table(value, path,
                    {"name", "topic", "type", "fingerprint", "schema", "help", "optional", "every_rank", "same_loop",
                     "policy", "window_messages", "window_bytes", "latched"});
  core::PortInfo port;
  port.name = table.name("name");
  port.topic = table.text("topic", "", kMaxTopicBytes);
  const Type type = read_schema(table, "schema");
  port.schema = type.text;
  port.type = table.text("type", type.name);
  if (port.type != type.name) throw table.refusal("type", fmt::format("the schema is that of '{}'", type.name));
  port.fingerprint = fingerprint(type.text);
  if (const json* given = table.find("fingerprint"); given != nullptr && *given != port.fingerprint) {
    throw table.refusal("fingerprint", fmt::format("the schema has {}", port.fingerprint));
  }
  port.help = table.text("help", "");
  port.optional = table.flag("optional");
  port.every_rank = table.flag("every_rank");
  if (table.flag("same_loop")) throw table.refusal("same_loop", "false: a member shares its event loop with nobody");
  port.policy = table.word("policy", port.policy);
  port.window_messages = table.count("window_messages", port.window_messages, 1);
  port.window_bytes = table.count("window_bytes", port.window_bytes, 1);
  port.latched = table.flag("latched");
  return port;
}

core::ServiceInfo read_service(const json& value, const std::string& path) {
  const Table table(value, path, {"name", "request", "reply", "help"});
  return {table.name("name"), read_schema(table, "request").text, read_schema(table, "reply").text,
          table.text("help", "")};
}

ComponentTraits read_traits(const Table& declaration) {
  ComponentTraits traits;
  const json* value = declaration.find("traits");
  if (value == nullptr) return traits;
  const Table table(*value, "traits", {"per_rank", "thread", "restartable", "checks_parameters", "memory_bytes"});
  traits.per_rank = table.flag("per_rank");
  if (table.find("thread") != nullptr) traits.thread = table.name("thread");
  if (table.find("restartable") != nullptr) traits.restartable = table.flag("restartable");
  if (table.flag("checks_parameters")) {
    throw table.refusal("checks_parameters", "false: a member checks its parameters when it is configured");
  }
  traits.memory_bytes = table.count("memory_bytes", 0, 0);
  return traits;
}

/// Throws if a name occurs twice. An input and an output must not have the same name, either, because a remap refers to
/// a port by its name alone.
class Names {
 public:
  explicit Names(std::string what) : what_(std::move(what)) {}
  void add(const std::string& path, const std::string& name) {
    if (!names_.insert(name).second) throw fault(path, fmt::format("there are two {} named '{}'", what_, name));
  }

 private:
  std::string what_;
  std::set<std::string> names_;
};

}  // namespace

core::PluginInfo read_declaration(const std::string& text) {
  if (text.size() > kMostDeclarationBytes) {
    throw fault("", fmt::format("it has {} bytes; at most {}", text.size(), kMostDeclarationBytes));
  }
  const std::optional<json> parsed = parse_bounded_json(text);
  if (!parsed) throw fault("", "it is not JSON");
  const Table table(*parsed, "",
                    {"kind", "name", "version", "description", "abi_tag", "path", "traits", "objection", "parameters",
                     "inputs", "outputs", "services"});
  core::PluginInfo info;
  info.label = {table.text("kind", "component"), table.name("name"), table.text("version", "1", kMostNameBytes),
                table.text("description", ""), table.text("abi_tag", "", kMostTextBytes)};
  if (info.label.kind != "component") throw table.refusal("kind", "\"component\"");
  info.traits.of_kind = read_traits(table);
  Names parameters("parameters"), ports("ports"), services("services");
  table.each("parameters", [&](const json& value, const std::string& path) {
    info.parameters.push_back(read_parameter(value, path));
    parameters.add(path, info.parameters.back().name);
  });
  for (auto* list : {&info.inputs, &info.outputs}) {
    table.each(list == &info.inputs ? "inputs" : "outputs", [&](const json& value, const std::string& path) {
      list->push_back(read_port(value, path));
      ports.add(path, list->back().name);
    });
  }
  table.each("services", [&](const json& value, const std::string& path) {
    info.services.push_back(read_service(value, path));
    services.add(path, info.services.back().name);
  });
  return info;
}

}  // namespace trainyard::launch
