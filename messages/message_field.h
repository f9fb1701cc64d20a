// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <type_traits>

namespace trainyard {

namespace detail {

/// A trait that is true for the smart pointers of the standard library. cereal would follow these pointers, so they
/// must be refused explicitly.
template <class T>
struct IsSmartPointer : std::false_type {};
template <class T, class Deleter>
struct IsSmartPointer<std::unique_ptr<T, Deleter>> : std::true_type {};
template <class T>
struct IsSmartPointer<std::shared_ptr<T>> : std::true_type {};
template <class T>
struct IsSmartPointer<std::weak_ptr<T>> : std::true_type {};

}  // namespace detail

/// A type that a field of a message may have. Pointers of any kind and polymorphic types are excluded: with such
/// fields, the sender of a message could choose which type is constructed, or make two fields share one object.
template <class T>
concept MessageField = !std::is_pointer_v<T> && !std::is_polymorphic_v<T> && !detail::IsSmartPointer<T>::value;

/// Does nothing if T is a MessageField. Otherwise the call does not compile, and the compiler shows a readable error.
template <class T>
constexpr void require_message_field() {
  static_assert(MessageField<T>, "a message field may not be a pointer, a smart pointer or a polymorphic type");
}

/// A message: a plain struct with a name and one cereal `serialize` that lists every field by CEREAL_NVP. The binary
/// form, the schema, JSON and the fingerprint are derived from this list, in its order. A field that is missing from
/// the list is not sent. Neither the compiler nor Trainyard can detect such an omission.
template <class T>
concept Message = std::is_class_v<T> && std::default_initializable<T> && MessageField<T> && requires {
  { T::kTypeName } -> std::convertible_to<const char*>;
};

}  // namespace trainyard
