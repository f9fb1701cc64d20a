// SPDX-License-Identifier: Apache-2.0
#include "components/front_door/permissions.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "messages/error.h"
#include "messages/printable.h"
#include "visitors/json_fields.h"

namespace trainyard::front_door {
namespace {

constexpr std::array<std::string_view, 4> kQuestions = {"run", "topics", "nodes", "params"};
/// The calls that are allowed with the role `watch`. The services of components are not among them, because a service
/// can do anything.
constexpr std::array<std::string_view, 4> kCallsThatChangeNothing = {"param.list", "param.get", "counters", "pulse"};

/// Returns a text from the question in a form that is safe to print, because it comes from an untrusted program.
std::string shown(const std::string& word) { return printable_line(word.substr(0, 40)); }

}  // namespace

void check_permission(const core::PublicKey& visitor, const nlohmann::json& question) {
  const std::string op = visitors::text_in(question, "op");
  const std::string method = visitors::text_in(question, "method");
  if (std::ranges::find(kQuestions, op) != kQuestions.end()) return;
  if (op == "announce" || op == "withdraw") {
    throw Error(Code::kInvalidArgument, "'{}' is refused: a visitor from another host cannot publish topics", op);
  }
  const bool changes_nothing =
      op == "call" && std::ranges::find(kCallsThatChangeNothing, method) != kCallsThatChangeNothing.end();
  if (changes_nothing || visitor.role != core::Role::kWatch) return;
  throw Error(Code::kInvalidArgument, "'{}' is refused: the key '{}' has the role watch, which may change nothing",
              shown(op == "call" ? method : op), visitor.name);
}

}  // namespace trainyard::front_door
