// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <utility>

#include "messages/json.h"
#include "messages/message_type.h"

namespace trainyard {

class Component;

/// The part of a service that does not depend on the types of its request and answer. The handler of the service runs
/// on the component's event loop, never concurrently with another handler of the component.
class ServiceBase {
 public:
  virtual ~ServiceBase() = default;
  ServiceBase(const ServiceBase&) = delete;
  ServiceBase& operator=(const ServiceBase&) = delete;

  const std::string& name() const { return name_; }
  const std::string& help() const { return help_; }
  const MessageType& request_type() const { return request_; }
  const MessageType& reply_type() const { return reply_; }

  /// A function that sends the answer to one request. Its argument is the answer as JSON. A service must call this
  /// function exactly once for each request, on the component's loop.
  using Reply = std::function<void(std::string json)>;

  /// Passes a request, given as JSON, to the handler. The answer is passed to `reply`, either before this function
  /// returns or later. If the request is not valid or the handler throws, this function throws; the sender of the
  /// request receives the error, and the component does not fail.
  virtual void serve(const std::string& json, Reply reply) = 0;

  /// Calls serve() and returns the answer as JSON. If there is no answer when serve() returns, returns an empty string,
  /// and the later answer is lost.
  std::string call(const std::string& json);

 protected:
  ServiceBase(Component& owner, std::string name, std::string help, const MessageType& request,
              const MessageType& reply);

 private:
  std::string name_;
  std::string help_;
  const MessageType& request_;
  const MessageType& reply_;
};

/// A function of a component that users and tools can call during the run. The handler computes the answer and returns
/// it. Requests and answers are sent as JSON through the launcher. This is too slow for use in every step.
template <Message Question, Message Answer>
class Service final : public ServiceBase {
 public:
  Service(Component& owner, std::string name, std::string help, std::function<Answer(const Question&)> handler)
      : ServiceBase(owner, std::move(name), std::move(help), message_type<Question>(), message_type<Answer>()),
        handler_(std::move(handler)) {}

  void serve(const std::string& json, Reply reply) override { reply(to_json(handler_(from_json<Question>(json)))); }

 private:
  std::function<Answer(const Question&)> handler_;
};

/// A service that can answer after its handler has returned. The handler receives the request and a function `answer`.
/// The component must call `answer` exactly once, on its event loop, with the answer to the request, either inside the
/// handler or later. If it never does, the request times out.
template <Message Question, Message Answer>
class DeferredService final : public ServiceBase {
 public:
  using Answering = std::function<void(const Answer&)>;

  DeferredService(Component& owner, std::string name, std::string help,
                  std::function<void(const Question&, Answering answer)> handler)
      : ServiceBase(owner, std::move(name), std::move(help), message_type<Question>(), message_type<Answer>()),
        handler_(std::move(handler)) {}

  void serve(const std::string& json, Reply reply) override {
    handler_(from_json<Question>(json), [reply = std::move(reply)](const Answer& answer) { reply(to_json(answer)); });
  }

 private:
  std::function<void(const Question&, Answering)> handler_;
};

}  // namespace trainyard
