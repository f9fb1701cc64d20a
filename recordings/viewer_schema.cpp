// SPDX-License-Identifier: Apache-2.0
#include "recordings/viewer_schema.h"

#include <nlohmann/json.hpp>
#include <optional>

#include "messages/error.h"
#include "recordings/message_text.h"

namespace trainyard::recordings {
namespace {

using Json = nlohmann::ordered_json;

/// The largest number of fields in the result. A struct is described again at each place where it is used, so a hostile
/// schema could otherwise make the result extremely large.
constexpr int kMostFields = 5000;

class Describer {
 public:
  explicit Describer(const Schema& schema) : schema_(schema) {}

  Json describe_struct(const StructType& type) {
    Json made = {{"title", type.name}, {"type", "object"}, {"properties", Json::object()}};
    for (const Field& field : type.fields) {
      if (++fields_ > kMostFields) break;
      if (auto described = describe(field.type)) made["properties"][field.name] = std::move(*described);
    }
    return made;
  }

 private:
  std::optional<Json> describe(const FieldType& type) {
    switch (type.kind) {
      case FieldKind::kList:
        return describe_list(type.element.at(0));
      case FieldKind::kMap: {
        Json made = {{"type", "object"}, {"properties", Json::object()}};
        if (auto value = describe(type.element.at(0))) made["additionalProperties"] = std::move(*value);
        return made;
      }
      case FieldKind::kOptional:
        return describe(type.element.at(0));
      case FieldKind::kStruct: {
        const StructType* found = schema_.find(type.struct_name);
        return found == nullptr ? std::nullopt : std::optional(describe_struct(*found));
      }
      case FieldKind::kTensor:
        return tensor();
      default:
        return Json{{"type", word_of(type.kind)}};
    }
  }

  std::optional<Json> describe_list(const FieldType& element) {
    const FieldType& inner = element.kind == FieldKind::kOptional ? element.element.at(0) : element;
    if (inner.kind == FieldKind::kList) return std::nullopt;
    auto items = describe(element);
    if (!items) return std::nullopt;
    return Json{{"type", "array"}, {"items", std::move(*items)}};
  }

  static const char* word_of(FieldKind kind) {
    if (kind == FieldKind::kBool) return "boolean";
    if (kind == FieldKind::kString) return "string";
    return kind == FieldKind::kF32 || kind == FieldKind::kF64 ? "number" : "integer";
  }

  static Json tensor() {
    Json made = {{"title", "Tensor"}, {"type", "object"}};
    made["properties"] = {{"dtype", {{"type", "string"}}},
                          {"shape", {{"type", "array"}, {"items", {{"type", "integer"}}}}},
                          {"payload", {{"type", "integer"}}},
                          {"offset", {{"type", "integer"}}}};
    return made;
  }

  const Schema& schema_;
  int fields_ = 0;
};

}  // namespace

std::string to_viewer_schema(const Schema& schema) {
  Json root = Describer(schema).describe_struct(schema.message());
  root["properties"].emplace(kTraceField, Json{{"type", "string"}});
  root["properties"].emplace(kPayloadsField, Json{{"type", "array"}, {"items", {{"type", "string"}}}});
  Json document = {{"$schema", "https://json-schema.org/draft/2020-12/schema"}};
  document.update(root);
  return document.dump(1);
}

}  // namespace trainyard::recordings
