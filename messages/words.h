// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <concepts>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "messages/error.h"

namespace trainyard {

/// The words of an enumeration, which stand for its values on the wire, in JSON and in files.
///
/// An enumeration that counts from 0 gets words by a function beside it, which is found by its argument:
///
///     enum class Season : std::uint8_t { kSummer, kWinter };
///     constexpr auto words_of(Season) { return words("season", "summer", "winter"); }
///
/// It can then be the type of a Parameter, and the type of a message's field, which is encoded as a string. A word that
/// the enumeration does not have is refused when it is read.
template <std::size_t N>
struct Words {
  std::string_view noun;                   ///< What a value is called in errors: "season", "kind of order".
  std::array<std::string_view, N> values;  ///< The words, indexed by the value of the enumeration.
};

/// Returns the Words of an enumeration; used in the functions `words_of`.
template <class... Word>
constexpr Words<sizeof...(Word)> words(std::string_view noun, Word... values) {
  return {noun, {std::string_view(values)...}};
}

/// An enumeration that has words.
template <class E>
concept Worded = std::is_enum_v<E> && requires(E value) {
  words_of(value).noun;
};

/// The words of E, stored for the lifetime of the program.
template <Worded E>
inline constexpr auto kWords = words_of(E{});

/// Returns the word of a value.
template <Worded E>
constexpr std::string_view name_of(E value) {
  return kWords<E>.values.at(static_cast<std::size_t>(value));
}

/// Returns the value with this word; empty if there is none.
template <Worded E>
constexpr std::optional<E> find_by_name(std::string_view word) {
  for (std::size_t i = 0; i < kWords<E>.values.size(); ++i) {
    if (kWords<E>.values[i] == word) return static_cast<E>(i);
  }
  return {};
}

/// Returns an error text: "'trian' is no kind of order; did you mean 'train'? known: ..."
std::string describe_unknown_word(std::string_view given, std::string_view noun,
                                  std::span<const std::string_view> known);

/// Returns the value with this word. If there is none, throws kInvalidArgument, which suggests the nearest word and
/// lists all of them.
template <Worded E>
E from_name(std::string_view word) {
  if (const std::optional<E> value = find_by_name<E>(word)) return *value;
  throw Error(Code::kInvalidArgument, describe_unknown_word(word, kWords<E>.noun, kWords<E>.values));
}

}  // namespace trainyard
