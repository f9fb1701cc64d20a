// SPDX-License-Identifier: Apache-2.0
#include "collectives/tcp/messages.h"

#include <algorithm>

#include "messages/error.h"

namespace trainyard::tcp {
namespace {

using collectives::Effort;
using collectives::Operation;
using collectives::OperationKind;
using collectives::Progress;

bool is_small(const Operation& operation) { return operation.bytes() <= Mailbox::kSmallBytes; }

class Send final : public collectives::Transfer {
 public:
  Send(Mailbox& mailbox, const Operation& operation)
      : mailbox_(mailbox), operation_(operation), unsent_(operation.whole()) {}

  Progress advance(Effort) override {
    const bool begins = !offered_;
    if (begins && !offer()) return Progress::kNothing;
    if (is_small(operation_)) return Progress::kFinished;
    const std::size_t before = unsent_.size();
    if (mailbox_.is_wanted(operation_.order)) send_chunks();
    if (unsent_.empty()) return Progress::kFinished;
    return begins || unsent_.size() < before ? Progress::kSome : Progress::kNothing;
  }

  std::optional<std::vector<std::uint32_t>> missing() const override { return {{operation_.request.member}}; }

 private:
  bool offer() {
    const Bytes body = is_small(operation_) ? unsent_ : Bytes{};
    if (!mailbox_.may_offer(operation_.order, body.size())) return false;
    mailbox_.offer(operation_.order, operation_.request, body);
    return offered_ = true;
  }

  void send_chunks() {
    while (!unsent_.empty()) {
      const std::size_t sent = mailbox_.send_chunk(operation_.order, unsent_);
      if (sent == 0) return;
      unsent_ = unsent_.subspan(sent);
    }
  }

  Mailbox& mailbox_;
  const Operation& operation_;
  Bytes unsent_;
  bool offered_ = false;
};

class Receive final : public collectives::Transfer {
 public:
  Receive(Control& control, const Operation& operation) : control_(control), operation_(operation) {}
  ~Receive() override {
    if (wanted_) mailbox().stop_wanting();
  }

  Progress advance(Effort) override {
    if (!wanted_) {
      const Request* offered = mailbox().offered().request(operation_.order);
      if (offered == nullptr) return Progress::kNothing;
      collectives::check_message(*offered, operation_.request, control_.ranks()[from()],
                                 control_.ranks()[control_.own()]);
      if (is_small(operation_)) return copy();
      wanted_ = mailbox().want(operation_.order, operation_.whole());
      return wanted_ ? Progress::kSome : Progress::kNothing;
    }
    return mailbox().have_all() ? finish() : Progress::kNothing;
  }

  std::optional<std::vector<std::uint32_t>> missing() const override { return {{from()}}; }

 private:
  std::uint32_t from() const { return operation_.request.member; }
  Mailbox& mailbox() const { return control_.with(from()).mailbox(); }

  Progress copy() {
    const Bytes body = mailbox().offered().body(operation_.order);
    if (body.size() != operation_.bytes()) {
      throw Error(Code::kCorrupt, "{} bytes came from rank {} where {} were expected", body.size(),
                  control_.ranks()[from()], operation_.bytes());
    }
    std::ranges::copy(body, operation_.whole().begin());
    return finish();
  }

  // The next message may begin before this object is destroyed, so the destructor must not stop the receiving any more.
  Progress finish() {
    wanted_ = false;
    mailbox().take(operation_.order);
    return Progress::kFinished;
  }

  Control& control_;
  const Operation& operation_;
  bool wanted_ = false;
};

}  // namespace

std::unique_ptr<collectives::Transfer> TcpMessages::begin(const Operation& operation) {
  if (operation.request.kind == OperationKind::kSend)
    return std::make_unique<Send>(control_.with(operation.request.member).mailbox(), operation);
  return std::make_unique<Receive>(control_, operation);
}

}  // namespace trainyard::tcp
