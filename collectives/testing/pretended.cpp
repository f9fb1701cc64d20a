// SPDX-License-Identifier: Apache-2.0
#include "collectives/testing/pretended.h"

namespace trainyard::testing {
namespace {

using namespace collectives;

class PretendedAgreement final : public Agreement {
 public:
  explicit PretendedAgreement(PretendedOthers& others) : others_(others) {}

  bool announce(const Operation&) override { return true; }
  const Request* request_of(std::uint32_t, const Operation& operation) const override {
    if (!others_.come) return nullptr;
    return others_.ask_for ? &*others_.ask_for : &operation.request;
  }
  void finished(const Operation&) override {}
  void tell(const Failure& failure) override { others_.were_told.push_back(failure); }
  std::optional<Failure> told() override { return others_.tell; }
  bool rest(const Pause&, const std::function<bool()>&) override { return true; }

 private:
  PretendedOthers& others_;
};

class PretendedAttendance final : public Attendance {
 public:
  explicit PretendedAttendance(PretendedOthers& others) : others_(others) {}

  Presence presence(std::uint32_t) override { return others_.presence; }
  std::uint64_t signs(std::uint32_t) const override { return 0; }
  void show(const Answer&) override {}
  void probe() override {}
  std::optional<Answer> answer(std::uint32_t) const override { return others_.answer; }

 private:
  PretendedOthers& others_;
};

class PretendedTransfer final : public Transfer {
 public:
  PretendedTransfer(PretendedOthers& others, const Operation& operation) : others_(others), operation_(operation) {}

  Progress advance(Effort) override {
    if (others_.move) others_.move(operation_);
    return Progress::kFinished;
  }

 private:
  PretendedOthers& others_;
  const Operation& operation_;
};

class PretendedTransport final : public Transport {
 public:
  explicit PretendedTransport(PretendedOthers& others) : others_(others) {}

  std::unique_ptr<Transfer> begin(const Operation& operation) override {
    return std::make_unique<PretendedTransfer>(others_, operation);
  }

 private:
  PretendedOthers& others_;
};

}  // namespace

Backend pretended_backend(PretendedOthers& others) {
  Backend backend;
  backend.agreement = std::make_unique<PretendedAgreement>(others);
  backend.attendance = std::make_unique<PretendedAttendance>(others);
  backend.messages = std::make_unique<PretendedTransport>(others);
  backend.transport = std::make_unique<PretendedTransport>(others);
  backend.thread = Thread::kCaller;
  return backend;
}

}  // namespace trainyard::testing
