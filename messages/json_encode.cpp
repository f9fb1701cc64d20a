// SPDX-License-Identifier: Apache-2.0
// Converts JSON to the binary form. People and other programs write the JSON, so every error names the path of the
// field.
#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "messages/error.h"
#include "messages/json.h"
#include "messages/limits.h"
#include "messages/recorded_json.h"

namespace trainyard {
namespace {

using Json = nlohmann::json;

/// Walks the JSON tree and the schema together. An instance serves one message. Fields are written in the order of the
/// schema, whatever their order in the JSON.
class Encoder {
 public:
  /// What the JSON may contain for a tensor: nothing, or also the description that json_from_binary() writes.
  enum class Tensors { kMissing, kDescribed };

  Encoder(const Schema& schema, Tensors tensors) : schema_(schema), tensors_(tensors), writer_(body_, payloads_) {}

  std::string encode(const Json& json) {
    const StructType& message = schema_.message();
    path_ = message.name;
    encode_struct(message, json, 0);
    // An Encoder is used only once; writer_ still refers to body_ but writes no more.
    return std::move(body_);
  }

 private:
  /// `json` may be null everywhere: the field is then missing and becomes zero or empty.
  void encode_struct(const StructType& type, const Json& json, std::size_t depth) {
    if (depth > kMaxNesting) fail("nests too deeply");
    expect(json, json.is_object(), "an object");
    for (const auto& [name, value] : json.items()) {
      if (std::ranges::find(type.fields, name, &Field::name) == type.fields.end()) {
        fail("has no field '{}'; its fields: {}", name, field_names(type));
      }
    }
    for (const Field& field : type.fields) {
      // A missing field and null mean the same: zero, or an empty value of the field's type.
      const auto found = json.find(field.name);
      // This is a reference, because a copy would recurse as deeply as the value is nested, and could overflow the
      // stack.
      const Json& value = found == json.end() ? missing_ : *found;
      within("." + field.name, [&] { encode_value(field.type, value, depth + 1); });
    }
  }

  // The check in encode_struct() bounds the recursion, because a schema can be endless only if a struct contains
  // itself.
  void encode_value(const FieldType& type, const Json& json, std::size_t depth) {
    switch (type.kind) {
      case FieldKind::kList:
        return encode_list(type.element.at(0), json, depth);
      case FieldKind::kMap:
        return encode_map(type.element.at(0), json, depth);
      case FieldKind::kOptional:
        writer_.write_number(static_cast<std::uint8_t>(!json.is_null()));
        return json.is_null() ? void() : encode_value(type.element.at(0), json, depth + 1);
      case FieldKind::kStruct: {
        const StructType* found = schema_.find(type.struct_name);
        if (found == nullptr) fail("has a type that the schema lacks: '{}'", type.struct_name);
        return encode_struct(*found, json, depth);
      }
      case FieldKind::kString:
        expect(json, json.is_string(), "a string");
        return write(json.is_null() ? std::string() : json.get<std::string>());
      case FieldKind::kTensor:
        // An empty tensor is written, so that messages with a tensor can be written at all.
        if (json.is_null()) return write(Tensor{});
        if (tensors_ == Tensors::kMissing) fail("is a tensor, which cannot be given as JSON");
        return encode_tensor(json);
      default:
        return encode_number(type.kind, json);
    }
  }

  // A missing list becomes an empty list, because the size() of null is 0.
  void encode_list(const FieldType& element, const Json& json, std::size_t depth) {
    expect(json, json.is_array(), "an array");
    writer_.write_count(json.size());
    for (std::size_t i = 0; i < json.size(); ++i) {
      within(fmt::format("[{}]", i), [&] { encode_value(element, json[i], depth + 1); });
    }
  }

  void encode_map(const FieldType& element, const Json& json, std::size_t depth) {
    expect(json, json.is_object(), "an object");
    writer_.write_count(json.size());
    for (const auto& entry : json.items()) {  // The entries are sorted by key, as std::map writes them.
      writer_(entry.key());
      within(fmt::format("[\"{}\"]", entry.key()), [&] { encode_value(element, entry.value(), depth + 1); });
    }
  }

  // This is the counterpart of decode_tensor() in json_decode.cpp.
  void encode_tensor(const Json& json) {
    expect(json, json.is_object(), "an object");
    const Json shape = json.value("shape", Json::array());
    if (!shape.is_array() || shape.size() > kMaxDimensions)
      fail("has a shape that is no list of at most {}", kMaxDimensions);
    const auto dtype = find_dtype(json.value("dtype", Json()));
    if (!dtype) fail("has an unknown dtype");
    writer_.write_number(static_cast<std::uint8_t>(*dtype));
    writer_.write_number(static_cast<std::uint8_t>(shape.size()));
    for (const Json& extent : shape) encode_integer<std::int64_t>(extent);
    const Json payload = json.value("payload", Json());
    payload.is_null() ? writer_.write_number(kNoPayload) : encode_integer<std::uint32_t>(payload);
    encode_integer<std::uint64_t>(json.value("offset", Json()));
  }

  static std::optional<DType> find_dtype(const Json& name) {
    for (int number = 0; size_of(static_cast<DType>(number)) != 0; ++number) {
      if (name.is_string() && name == name_of(static_cast<DType>(number))) return static_cast<DType>(number);
    }
    return std::nullopt;
  }

  // A number is written in the width of its field, after its range has been checked.
  void encode_number(FieldKind kind, const Json& json) {
    switch (kind) {
      case FieldKind::kBool:
        expect(json, json.is_boolean(), "true or false");
        return write(!json.is_null() && json.get<bool>());
      case FieldKind::kI8:
        return encode_integer<std::int8_t>(json);
      case FieldKind::kI16:
        return encode_integer<std::int16_t>(json);
      case FieldKind::kI32:
        return encode_integer<std::int32_t>(json);
      case FieldKind::kI64:
        return encode_integer<std::int64_t>(json);
      case FieldKind::kU8:
        return encode_integer<std::uint8_t>(json);
      case FieldKind::kU16:
        return encode_integer<std::uint16_t>(json);
      case FieldKind::kU32:
        return encode_integer<std::uint32_t>(json);
      case FieldKind::kU64:
        return encode_integer<std::uint64_t>(json);
      case FieldKind::kF32:
        return encode_real<float>(json);
      default:
        return encode_real<double>(json);
    }
  }

  // A number with a decimal point is refused even if it is whole: an author who writes 3.0 for a count has probably
  // mixed up two fields.
  template <class T>
  void encode_integer(const Json& json) {
    using Limits = std::numeric_limits<T>;
    if (json.is_null()) return writer_.write_number(T{0});
    const bool fits = json.is_number_unsigned()
                          ? std::in_range<T>(json.get<std::uint64_t>())
                          : json.is_number_integer() && std::in_range<T>(json.get<std::int64_t>());
    if (!fits) fail("is {}; an integer from {} to {} is allowed", brief(json), +Limits::min(), +Limits::max());
    writer_.write_number(json.get<T>());
  }

  template <class T>
  void encode_real(const Json& json) {
    writer_.write_number(json.is_null() ? T{0} : real<T>(json));
  }

  // Refuses a number that is too large for T, because it would silently become infinite.
  template <class T>
  T real(const Json& json) const {
    using Limits = std::numeric_limits<T>;
    if (json == "NaN") return Limits::quiet_NaN();
    if (json == "Infinity") return Limits::infinity();
    if (json == "-Infinity") return -Limits::infinity();
    if (!json.is_number()) fail("is {}; a number, \"NaN\", \"Infinity\" or \"-Infinity\" is allowed", brief(json));
    const T value = static_cast<T>(json.get<double>());
    if (std::isinf(value)) fail("is {}; at most {} fits", brief(json), Limits::max());
    return value;
  }

  template <class T>
  void write(const T& value) {
    writer_(value);
  }

  /// Runs `encode` with `step` appended to the path.
  template <class Encode>
  void within(const std::string& step, Encode encode) {
    const std::size_t length = path_.size();
    path_ += step;
    encode();
    path_.resize(length);
  }

  void expect(const Json& json, bool is_it, std::string_view what) const {
    if (!is_it && !json.is_null()) fail("is {}; {} is allowed", brief(json), what);
  }

  static std::string field_names(const StructType& type) {
    std::string names;
    for (const Field& field : type.fields) names += (names.empty() ? "" : ", ") + field.name;
    return names.empty() ? "none" : names;
  }

  /// Returns the value as text for an error message. Of objects and arrays only the type is shown, because writing a
  /// deeply nested value would recurse deeply.
  static std::string brief(const Json& json) {
    if (json.is_structured()) return fmt::format("an {}", json.type_name());
    return json.dump(-1, ' ', false, Json::error_handler_t::replace).substr(0, 60);
  }

  template <class... Args>
  [[noreturn]] void fail(fmt::format_string<Args...> format, Args&&... args) const {
    throw Error(Code::kInvalidArgument, "{} {}", path_, fmt::format(format, std::forward<Args>(args)...));
  }

  const Schema& schema_;
  const Tensors tensors_;
  const Json missing_;
  std::string body_;
  std::vector<Buffer> payloads_;  ///< Stays empty.
  BinaryWriter writer_;
  std::string path_;  ///< For example "Order.metrics[0].value".
};

// This is the only place where exceptions of the JSON library become a trainyard::Error. Their text names the line and
// column.
Json parse(std::string_view text) {
  try {
    return Json::parse(text);
  } catch (const Json::exception& error) {
    throw Error(Code::kInvalidArgument, "message is not JSON: {}", error.what());
  }
}

}  // namespace

std::string binary_from_json(const Schema& schema, std::string_view json) {
  return Encoder(schema, Encoder::Tensors::kMissing).encode(parse(json));
}

std::string binary_from_recorded_json(const Schema& schema, const nlohmann::json& json) {
  return Encoder(schema, Encoder::Tensors::kDescribed).encode(json);
}

}  // namespace trainyard
