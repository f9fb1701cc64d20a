// SPDX-License-Identifier: Apache-2.0
#include "collectives/mesh_agreement.h"

#include <cstring>
#include <thread>

namespace trainyard::collectives {
namespace {

using namespace std::chrono_literals;

/// How long leave() waits until the others have received the last messages. If the group has failed, the limit is
/// shorter, because a member may be stopped.
constexpr auto kLeave = 5000ms;
constexpr auto kLeaveInAnger = 300ms;

Tag asked(const Operation& operation) { return {Tag::kAsked, 0, operation.order}; }

template <class Action>
void for_others(const Mesh& mesh, const Action& action) {
  for (std::uint32_t member = 0; member < mesh.size(); ++member) {
    if (member != mesh.own()) action(member);
  }
}

class MeshSend final : public Transfer {
 public:
  MeshSend(Mesh& mesh, const Operation& operation) : mesh_(mesh), operation_(operation) {}

  Progress advance(Effort) override {
    mesh_.send(operation_.request.member, {Tag::kDirect, 0, operation_.order}, operation_.request, operation_.whole());
    return Progress::kFinished;
  }

 private:
  Mesh& mesh_;
  const Operation& operation_;
};

class MeshReceive final : public Transfer {
 public:
  MeshReceive(Mesh& mesh, const Operation& operation, const std::vector<std::uint32_t>& ranks)
      : mesh_(mesh), operation_(operation), ranks_(ranks) {}

  Progress advance(Effort) override {
    const std::uint32_t from = operation_.request.member;
    const auto parcel = mesh_.take(from, {Tag::kDirect, 0, operation_.order});
    if (!parcel) return Progress::kNothing;
    check_message(parcel->request, operation_.request, ranks_[from], ranks_[mesh_.own()]);
    if (parcel->body.size() != operation_.bytes()) {
      throw Error(Code::kCorrupt, "{} bytes came from rank {} where {} were expected", parcel->body.size(),
                  ranks_[from], operation_.bytes());
    }
    if (operation_.bytes() > 0) std::memcpy(operation_.at(0), parcel->body.data(), operation_.bytes());
    return Progress::kFinished;
  }

  std::optional<std::vector<std::uint32_t>> missing() const override { return {{operation_.request.member}}; }

 private:
  Mesh& mesh_;
  const Operation& operation_;
  const std::vector<std::uint32_t>& ranks_;
};

}  // namespace

bool MeshAgreement::announce(const Operation& operation) {
  for_others(mesh_, [&](std::uint32_t member) { mesh_.send(member, asked(operation), operation.request); });
  return true;
}

const Request* MeshAgreement::request_of(std::uint32_t member, const Operation& operation) const {
  const Parcel* parcel = mesh_.find(member, asked(operation));
  return parcel == nullptr ? nullptr : &parcel->request;
}

void MeshAgreement::finished(const Operation& operation) {
  for_others(mesh_, [&](std::uint32_t member) { mesh_.take(member, asked(operation)); });
}

void MeshAgreement::tell(const Failure& failure) {
  Request note;
  note.member = static_cast<std::uint32_t>(failure.code);
  const auto text = std::as_bytes(std::span(failure.text));
  for_others(mesh_, [&](std::uint32_t member) { mesh_.send(member, {.kind = Tag::kFailed}, note, text); });
}

std::optional<Failure> MeshAgreement::told() {
  std::optional<Failure> failure;
  for_others(mesh_, [&](std::uint32_t member) {
    const auto parcel = failure ? std::nullopt : mesh_.take(member, {.kind = Tag::kFailed});
    if (!parcel) return;
    const auto* text = reinterpret_cast<const char*>(parcel->body.data());
    failure = Failure{static_cast<Code>(parcel->request.member), std::string(text, parcel->body.size())};
  });
  return failure;
}

// A message that arrives between the last check and the sleep stays in the socket's queue and ends the sleep, so
// `look_again` is not needed.
bool MeshAgreement::rest(const Pause& pause, const std::function<bool()>&) {
  const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(pause.most);
  mesh_.sleep(whole);
  if (whole == 0ms) std::this_thread::sleep_for(pause.most);
  return true;
}

void MeshAgreement::leave(bool failed) { mesh_.leave(failed ? kLeaveInAnger : kLeave); }

// The answer to a ping contains a Request whose fields have these meanings: `count` is 0 if the member does not wait, 1
// if it waits for the member `member`, and 2 if it waits but cannot tell for whom.
void MeshAttendance::show(const Answer& answer) {
  Request request;
  if (answer.waits) request.count = answer.waits_for ? 1 : 2;
  request.member = answer.waits_for.value_or(0);
  mesh_.answer_pings_with(request);
}

void MeshAttendance::probe() {
  ++probes_;
  for_others(mesh_, [&](std::uint32_t member) { mesh_.send(member, {Tag::kPing, 0, probes_}); });
}

std::optional<Answer> MeshAttendance::answer(std::uint32_t member) const {
  const Parcel* pong = mesh_.find(member, {Tag::kPong, 0, probes_});
  if (pong == nullptr) return {};
  Answer answer{.waits = pong->request.count > 0, .waits_for = {}};
  if (pong->request.count == 1 && pong->request.member < mesh_.size()) answer.waits_for = pong->request.member;
  return answer;
}

std::unique_ptr<Transfer> MeshMessages::begin(const Operation& operation) {
  if (operation.request.kind == OperationKind::kSend) return std::make_unique<MeshSend>(mesh_, operation);
  return std::make_unique<MeshReceive>(mesh_, operation, ranks_);
}

Backend over_mesh(const CollectiveContext& context, Sockets sockets, Mesh*& mesh) {
  auto agreement = std::make_unique<MeshAgreement>(context, sockets);
  mesh = &agreement->mesh();
  Backend backend;
  backend.agreement = std::move(agreement);
  backend.attendance = std::make_unique<MeshAttendance>(*mesh);
  backend.messages = std::make_unique<MeshMessages>(*mesh, context.ranks);
  return backend;
}

}  // namespace trainyard::collectives
