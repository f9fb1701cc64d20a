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
/// To give words to an enumeration whose values are 0, 1, 2, ..., define a function `words_of` in its namespace
/// (argument-dependent lookup finds it):
///
///     enum class Season : std::uint8_t { kSummer, kWinter };
///     constexpr auto words_of(Season) { return words("season", "summer", "winter"); }
///
/// The enumeration can then be the type of a Parameter and of a message's field; such a field is encoded as a string.
/// Reading any other word throws an error.
template <std::size_t N>
struct Words {
  std::string_view noun;                   ///< The name for a value in errors: "season", "kind of order".
  std::array<std::string_view, N> values;  ///< The words, indexed by the value of the enumeration.
};

/// Returns the Words with this noun and with one word for each value of the enumeration, in order. Called by functions
/// named `words_of`.
template <class... Word>
constexpr Words<sizeof...(Word)> words(std::string_view noun, Word... values) {
  return {noun, {std::string_view(values)...}};
}

/// An enumeration for which a function `words_of` exists.
template <class E>
concept Worded = std::is_enum_v<E> && requires(E value) {
  words_of(value).noun;
};

/// The Words of E, as words_of() returns them.
template <Worded E>
inline constexpr auto kWords = words_of(E{});

/// Returns the word for `value`.
template <Worded E>
constexpr std::string_view name_of(E value) {
  return kWords<E>.values.at(static_cast<std::size_t>(value));
}

/// Returns the value that `word` stands for, or an empty optional if no value has this word.
template <Worded E>
constexpr std::optional<E> find_by_name(std::string_view word) {
  for (std::size_t i = 0; i < kWords<E>.values.size(); ++i) {
    if (kWords<E>.values[i] == word) return static_cast<E>(i);
  }
  return {};
}

/// Returns the error text for the unknown word `given`. `noun` is the name for a value (Words::noun), and `known`
/// contains the allowed words. For example: "unknown kind of order 'trian'; did you mean 'train'? known: ..."
std::string describe_unknown_word(std::string_view given, std::string_view noun,
                                  std::span<const std::string_view> known);

/// Returns the value that `word` stands for. If no value has this word, throws kInvalidArgument with the text of
/// describe_unknown_word().
template <Worded E>
E from_name(std::string_view word) {
  if (const std::optional<E> value = find_by_name<E>(word)) return *value;
  throw Error(Code::kInvalidArgument, describe_unknown_word(word, kWords<E>.noun, kWords<E>.values));
}

}  // namespace trainyard
