// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "messages/message_field.h"
#include "messages/tensor.h"
#include "messages/words.h"

namespace trainyard::testing {

/// A cereal output archive that shows a message as a JSON tree, straight from the fields. It shares no code with the
/// binary form, the schema or json.h, so tests can compare their results with its tree. A tensor is shown with its
/// bytes.
class OracleArchive : public cereal::OutputArchive<OracleArchive, cereal::AllowEmptyClassElision> {
 public:
  using Json = nlohmann::ordered_json;

  OracleArchive() : cereal::OutputArchive<OracleArchive, cereal::AllowEmptyClassElision>(this) {}

  /// Returns the JSON tree of `value`.
  template <class T>
  static Json show(const T& value) {
    OracleArchive archive;
    archive(value);
    return archive.shown_;
  }

  /// Makes the archive show a value that is not a struct.
  void set(Json value) { shown_ = std::move(value); }
  /// Makes the archive show a struct, and adds this field to it.
  void set_field(const char* name, Json value) { shown_[name] = std::move(value); }

 private:
  Json shown_;
};

template <class T>
void prologue(OracleArchive&, const T&) {}
template <class T>
void epilogue(OracleArchive&, const T&) {}

template <class T>
requires std::is_arithmetic_v<T>
void CEREAL_SAVE_FUNCTION_NAME(OracleArchive& archive, const T& value) { archive.set(value); }

// Every field gets its own archive, so that values of other fields cannot get into it.
template <class T>
void CEREAL_SAVE_FUNCTION_NAME(OracleArchive& archive, const cereal::NameValuePair<T>& field) {
  archive.set_field(field.name, OracleArchive::show(field.value));
}

inline void CEREAL_SAVE_FUNCTION_NAME(OracleArchive& archive, const std::string& text) { archive.set(text); }

template <Worded E>
void CEREAL_SAVE_FUNCTION_NAME(OracleArchive& archive, const E& value) {
  archive.set(std::string(name_of(value)));
}

template <class T>
void CEREAL_SAVE_FUNCTION_NAME(OracleArchive& archive, const std::vector<T>& list) {
  auto shown = OracleArchive::Json::array();
  for (const T& element : list) shown.push_back(OracleArchive::show(element));
  archive.set(std::move(shown));
}

template <class T>
void CEREAL_SAVE_FUNCTION_NAME(OracleArchive& archive, const std::map<std::string, T>& map) {
  auto shown = OracleArchive::Json::object();
  for (const auto& [key, value] : map) shown[key] = OracleArchive::show(value);
  archive.set(std::move(shown));
}

template <class T>
void CEREAL_SAVE_FUNCTION_NAME(OracleArchive& archive, const std::optional<T>& optional) {
  archive.set(optional ? OracleArchive::show(*optional) : OracleArchive::Json());
}

inline void CEREAL_SAVE_FUNCTION_NAME(OracleArchive& archive, const Tensor& tensor) {
  // The elements are shown as bytes: two tensors of the same dtype and shape are equal if their bytes are equal.
  const auto bytes = tensor.buffer.empty() ? 0 : tensor.bytes();
  const std::string text(reinterpret_cast<const char*>(tensor.data()), bytes);
  archive.set({{"dtype", name_of(tensor.dtype)}, {"shape", tensor.shape}, {"bytes", text}});
}

/// Returns a message as a JSON tree.
template <class T>
nlohmann::ordered_json oracle(const T& message) {
  return OracleArchive::show(message);
}

}  // namespace trainyard::testing

template <trainyard::Worded E>
struct cereal::specialize<trainyard::testing::OracleArchive, E, cereal::specialization::non_member_load_save> {};
