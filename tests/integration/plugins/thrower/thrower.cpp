// SPDX-License-Identifier: Apache-2.0
// A component for tests that throws an error in the function that its parameters specify.

#include <unistd.h>

#include <csignal>
#include <stdexcept>

#include "core/component/component.h"
#include "messages/arena.h"

namespace trainyard {
namespace {

class Thrower final : public Component {
 public:
  explicit Thrower(ComponentContext& context) : Component(context) {}

 private:
  void at(const char* place) {
    if (*where_ != place) return;
    if (*by_signal_) std::raise(SIGSEGV);
    while (*hangs_) ::pause();
    throw std::runtime_error("thrown in " + *where_);
  }
  void on_configure() override { at("configure"); }
  void on_activate() override { at("activate"); }
  void on_deactivate() override { at("deactivate"); }

  Parameter<std::string> where_{*this, "where", std::string("handler"), "where to throw",
                                one_of({"configure", "activate", "handler", "deactivate"})};
  Parameter<bool> by_signal_{*this, "by_signal", false, "crash instead"};
  Parameter<bool> hangs_{*this, "hangs", false, "never return instead"};
  Input<ArenaBlock> ticks_{*this, "ticks", "the handler's trigger", [this](const auto&) { at("handler"); }};
};

}  // namespace
}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::Thrower, "thrower", "Throws where it is told to; for tests.")
