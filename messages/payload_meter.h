// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cereal/cereal.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "messages/message_field.h"
#include "messages/tensor.h"

namespace trainyard {

/// A cereal output archive that writes nothing, but computes the size of a message. The size is needed because an edge
/// (the connection between two components) limits the total size of the messages that have been sent and not yet
/// handled. The size is the sum of the bytes of tensors, strings (including the keys of maps) and lists of numbers. If
/// two tensors share a buffer, the bytes of both are counted. Single numbers, bools and enumerations are ignored.
///
/// The archive is used for edges within a process, where messages are not encoded. On edges between processes, the size
/// of a message is that of its body and its payloads.
class PayloadMeter : public cereal::OutputArchive<PayloadMeter, cereal::AllowEmptyClassElision> {
 public:
  PayloadMeter() : cereal::OutputArchive<PayloadMeter, cereal::AllowEmptyClassElision>(this) {}

  /// Adds `bytes` to the sum. Called by the functions below.
  void add(std::uint64_t bytes) { bytes_ += bytes; }
  /// Returns the sum. It is computed for every message sent within a process, so the computation must be cheap: it
  /// neither allocates memory nor reads the bytes of tensors.
  std::uint64_t bytes() const { return bytes_; }

 private:
  std::uint64_t bytes_ = 0;
};

// As in BinaryWriter, a type that cannot be sent does not compile.
template <class T>
void prologue(PayloadMeter&, const T&) {
  require_message_field<T>();
}
template <class T>
void epilogue(PayloadMeter&, const T&) {}

// Single numbers are left out: counting them would take time for every message, and they hardly matter, because the
// limits are hundreds of megabytes.
template <class T>
requires std::is_arithmetic_v<T>
void CEREAL_SAVE_FUNCTION_NAME(PayloadMeter&, const T&) {}

template <class T>
void CEREAL_SAVE_FUNCTION_NAME(PayloadMeter& archive, const cereal::NameValuePair<T>& field) {
  archive(field.value);
}

inline void CEREAL_SAVE_FUNCTION_NAME(PayloadMeter& archive, const std::string& text) { archive.add(text.size()); }

template <class T>
void CEREAL_SAVE_FUNCTION_NAME(PayloadMeter& archive, const std::vector<T>& list) {
  if constexpr (std::is_arithmetic_v<T>) {
    archive.add(list.size() * sizeof(T));
  } else {
    for (const T& element : list) archive(element);
  }
}

template <class T>
void CEREAL_SAVE_FUNCTION_NAME(PayloadMeter& archive, const std::map<std::string, T>& map) {
  for (const auto& [key, value] : map) archive(key, value);
}

template <class T>
void CEREAL_SAVE_FUNCTION_NAME(PayloadMeter& archive, const std::optional<T>& optional) {
  if (optional) archive(*optional);
}

/// Adds the size of a tensor. A tensor without a buffer has no payload and adds nothing, regardless of its shape.
inline void CEREAL_SAVE_FUNCTION_NAME(PayloadMeter& archive, const Tensor& tensor) {
  if (!tensor.buffer.empty()) archive.add(tensor.bytes());
}

}  // namespace trainyard
