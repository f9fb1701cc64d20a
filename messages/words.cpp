#include "messages/words.h"

#include <fmt/format.h>

#include "messages/nearest.h"

namespace trainyard {

std::string describe_unknown_word(std::string_view given, std::string_view noun,
                                  std::span<const std::string_view> known) {
  return fmt::format("'{}' is no {}{}", given.substr(0, 200), noun, suggestion(given, {known.begin(), known.end()}));
}

}  // namespace trainyard
