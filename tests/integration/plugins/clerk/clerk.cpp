// SPDX-License-Identifier: Apache-2.0
// A component for tests with services that answer in every possible way. It also receives the log.

#include <utility>

#include "core/component/component.h"
#include "messages/error.h"
#include "messages/log_record.h"
#include "messages/scalar.h"

namespace trainyard {
namespace {

class Clerk final : public Component {
 public:
  explicit Clerk(ComponentContext& context) : Component(context, {.thread = "clerk"}) {}

 private:
  static Scalar doubled(const Scalar& number) {
    if (number.value < 0) throw Error(Code::kInvalidArgument, "{} is below 0", number.value);
    return {.name = number.name, .value = 2 * number.value};
  }

  Parameter<double> speed_{*this, "speed", 1.5, "how fast it works", between(0, 10) | in_unit("pages/s") | settable()};
  Parameter<std::string> desk_{*this, "desk", std::string("left"), "where it sits", one_of({"left", "right"})};

  Service<Scalar, Scalar> double_{*this, "double", "twice the number",
                                  [](const Scalar& number) { return doubled(number); }};

  DeferredService<Scalar, Scalar>::Answering waiting_;
  DeferredService<Scalar, Scalar> wait_{*this, "wait", "the number of the next call of go",
                                        [this](const Scalar&, auto answer) { waiting_ = std::move(answer); }};
  Service<Scalar, Scalar> go_{*this, "go", "answers the caller that waits", [this](const Scalar& number) {
                                if (waiting_) waiting_(number);
                                return number;
                              }};
  DeferredService<Scalar, Scalar> stutter_{*this, "stutter", "breaks the rule to answer once",
                                           [](const Scalar& number, auto answer) {
                                             answer(number);
                                             answer(number);
                                             throw Error(Code::kInternal, "answered and failed");
                                           }};

  /// The window is larger than a visitor may request.
  Input<LogRecord> log_{*this,
                        "log",
                        "a record ends the run",
                        [this](const auto& record) { finish_run(record->text); },
                        {.optional = true, .window_messages = 1 << 20, .window_bytes = 1ull << 40, .topic = "/log"}};
};

}  // namespace
}  // namespace trainyard

TRAINYARD_COMPONENT(trainyard::Clerk, "clerk", "Answers questions; for tests.")
