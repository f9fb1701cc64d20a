// SPDX-License-Identifier: Apache-2.0
#include "collectives/gloo/gloo.h"

#include <ATen/core/ivalue.h>
#include <ATen/ops/from_blob.h>

#include <algorithm>
#include <span>
#include <thread>

#include "collectives/gloo/process_group.h"
#include "collectives/mesh_agreement.h"
#include "collectives/rank_order.h"
#include "messages/error.h"

namespace trainyard::collectives {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// Returns LibTorch's name of a type that Gloo supports. Elements of other types are converted before; see WorkingForm.
at::ScalarType gloo_type(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
      return at::kByte;
    case DType::kInt8:
      return at::kChar;
    case DType::kInt32:
      return at::kInt;
    case DType::kInt64:
      return at::kLong;
    case DType::kFloat32:
      return at::kFloat;
    case DType::kFloat64:
      return at::kDouble;
    default:
      throw Error(Code::kInternal, "Gloo does not work in {}", name_of(dtype));
  }
}

at::Tensor tensor_over(void* data, std::uint64_t count, DType dtype) {
  return at::from_blob(data, {static_cast<std::int64_t>(count)}, gloo_type(dtype));
}

at::Tensor tensor_over(std::span<std::byte> bytes) { return tensor_over(bytes.data(), bytes.size(), DType::kUInt8); }

/// Carries out one operation as one or several operations of Gloo (jobs), which start when all members have called it.
class GlooTransfer final : public Transfer {
 public:
  GlooTransfer(GlooGroup& group, Mesh& mesh, const Operation& operation)
      : group_(group), mesh_(mesh), operation_(operation) {}

  Progress advance(Effort) override {
    if (!started_) start();
    if (!all_ended()) return Progress::kNothing;
    for (const auto& job : jobs_) {
      if (job->getFuture()->hasError()) std::rethrow_exception(job->getFuture()->exception_ptr());
    }
    finish();
    return Progress::kFinished;
  }

  bool all_ended() const {
    return std::ranges::all_of(jobs_, [](const auto& job) { return job->getFuture()->completed(); });
  }

 private:
  void start() {
    started_ = true;
    const Request& request = operation_.request;
    switch (request.kind) {
      case OperationKind::kBroadcast:
        add(group_.start_broadcast(tensor_over(operation_.whole()), request.member));
        break;
      case OperationKind::kAllGather:
        start_gather();
        break;
      default:
        start_reduce();
    }
  }

  // If Gloo supports the type, it works directly on the caller's memory.
  void start_reduce() {
    const Elements& data = operation_.data;
    form_ = working_form(operation_.request.op, data.dtype, mesh_.size());
    void* memory = data.data;
    if (form_.dtype != data.dtype) {
      working_ = Buffer::heap(data.count * size_of(form_.dtype));
      memory = working_.data();
      to_working_form(form_, data.dtype, data.data, memory, data.count);
    }
    add(group_.start_all_reduce(tensor_over(memory, data.count, form_.dtype), form_.op));
  }

  void start_gather() {
    std::vector<at::Tensor> parts;
    bool are_equal = true;
    for (std::uint32_t member = 0; member < mesh_.size(); ++member) {
      parts.push_back(tensor_over(operation_.part(member)));
      are_equal &= operation_.part(member).size() == operation_.part(0).size();
    }
    if (are_equal) return add(group_.start_all_gather(parts, mesh_.own()));
    for (std::uint32_t member = 0; member < mesh_.size(); ++member) {
      if (parts[member].numel() > 0) add(group_.start_broadcast(parts[member], member));
    }
  }

  void add(GlooGroup::Job job) {
    job->getFuture()->addCallback([&mesh = mesh_](auto&) { mesh.wake(); });
    jobs_.push_back(std::move(job));
  }

  void finish() {
    const OperationKind kind = operation_.request.kind;
    if (kind != OperationKind::kAllReduce && kind != OperationKind::kReduceScatter) return;
    const Elements& data = operation_.data;
    if (form_.dtype == data.dtype && form_.divisor == 1) return;
    from_working_form(form_, data.dtype, working_.empty() ? data.data : working_.data(), data.data, data.count);
  }

  GlooGroup& group_;
  Mesh& mesh_;
  const Operation& operation_;
  bool started_ = false;
  WorkingForm form_{};
  Buffer working_;  ///< The converted elements, if Gloo does not support their type.
  std::vector<GlooGroup::Job> jobs_;
};

class GlooTransport final : public Transport {
 public:
  GlooTransport(const CollectiveContext& context, Mesh& mesh) : mesh_(mesh) {
    try {
      group_ = GlooGroup::connect(context, mesh.own());
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw Error(Code::kIo, "{}: Gloo cannot connect: {}", context.where, error.what());
    }
  }
  ~GlooTransport() override {
    if (!aborted_) let_others_finish();
  }

  std::unique_ptr<Transfer> begin(const Operation& operation) override {
    return std::make_unique<GlooTransfer>(*group_, mesh_, operation);
  }

  void abort(Transfer* under_way) override {
    aborted_ = true;
    group_->abort();
    const auto* transfer = static_cast<GlooTransfer*>(under_way);
    while (transfer != nullptr && !transfer->all_ended()) std::this_thread::sleep_for(1ms);
  }

 private:
  // Waits until the other members have left, too, because a member that has not received its result yet may still need
  // a connection to this member. Usually all members leave at about the same time.
  void let_others_finish() {
    const auto all_left = [&] {
      for (std::uint32_t member = 0; member < mesh_.size(); ++member) {
        if (member != mesh_.own() && mesh_.presence(member) == Presence::kHere) return false;
      }
      return true;
    };
    for (const auto until = Clock::now() + 1s; !all_left() && Clock::now() < until;) {
      mesh_.sleep(10ms);
      mesh_.receive();
    }
  }

  Mesh& mesh_;
  c10::intrusive_ptr<GlooGroup> group_;
  bool aborted_ = false;
};

}  // namespace

Backend Gloo::open() {
  Mesh* mesh = nullptr;
  Backend backend = over_mesh(context(), Sockets::kIpc, mesh);
  backend.transport = std::make_unique<GlooTransport>(context(), *mesh);
  return backend;
}

}  // namespace trainyard::collectives

TRAINYARD_COLLECTIVE(trainyard::collectives::Gloo, "gloo", "by the Gloo library of LibTorch, on the loopback interface")
