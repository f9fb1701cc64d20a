// SPDX-License-Identifier: Apache-2.0
#include "collectives/mpi/mpi.h"

#include <cstring>
#include <limits>

#include "collectives/mesh_agreement.h"
#include "collectives/mpi/library.h"
#include "collectives/rank_order.h"
#include "messages/error.h"

namespace trainyard::collectives {
namespace {

/// Carries out one operation, on a copy of its elements.
class MpiTransfer : public Transfer {
 public:
  MpiTransfer(MPI_Comm group, const Operation& operation) : group_(group), operation_(operation) {
    if (operation.data.count <= std::numeric_limits<int>::max()) return;
    throw Error(Code::kUnsupported, "{} elements are too many for MPI at a time; at most {}", operation.data.count,
                std::numeric_limits<int>::max());
  }

  // If MPI still works on the copy, the copy is deliberately leaked.
  ~MpiTransfer() override {
    if (request_ != MPI_REQUEST_NULL) static_cast<void>(new Buffer(copy_));
  }

  Progress advance(Effort) override {
    if (copy_.empty()) start();
    int is_done = 0;
    check_mpi(MPI_Test(&request_, &is_done, MPI_STATUS_IGNORE), "MPI_Test");
    if (is_done == 0) return Progress::kNothing;
    finish();
    return Progress::kFinished;
  }

 protected:
  virtual void start() = 0;
  virtual void finish() = 0;

  MPI_Comm group_;
  const Operation operation_;
  Buffer copy_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// A broadcast or an all_gather.
class MpiMove final : public MpiTransfer {
 public:
  using MpiTransfer::MpiTransfer;

 private:
  void start() override {
    const std::uint64_t bytes = operation_.bytes();
    copy_ = Buffer::heap(bytes);
    std::memcpy(copy_.data(), operation_.at(0), bytes);
    check_mpi(MPI_Type_contiguous(static_cast<int>(size_of(operation_.data.dtype)), MPI_BYTE, &element_),
              "MPI_Type_contiguous");
    check_mpi(MPI_Type_commit(&element_), "MPI_Type_commit");
    if (operation_.request.kind == OperationKind::kBroadcast) {
      check_mpi(MPI_Ibcast(copy_.data(), static_cast<int>(operation_.data.count), element_,
                           static_cast<int>(operation_.request.member), group_, &request_),
                "MPI_Ibcast");
      return;
    }
    for (std::size_t part = 0; part + 1 < operation_.bounds.size(); ++part) {
      counts_.push_back(static_cast<int>(operation_.bounds[part + 1] - operation_.bounds[part]));
      begins_.push_back(static_cast<int>(operation_.bounds[part]));
    }
    check_mpi(MPI_Iallgatherv(MPI_IN_PLACE, 0, element_, copy_.data(), counts_.data(), begins_.data(), element_, group_,
                              &request_),
              "MPI_Iallgatherv");
  }

  void finish() override {
    std::memcpy(operation_.at(0), copy_.data(), operation_.bytes());
    MPI_Type_free(&element_);
  }

  MPI_Datatype element_ = MPI_DATATYPE_NULL;
  std::vector<int> counts_;  ///< The size of each member's part. MPI reads it until the operation ends.
  std::vector<int> begins_;
};

/// An all_reduce or a reduce_scatter, in a type that MPI supports (WorkingForm). A reduce_scatter is carried out as an
/// all_reduce.
class MpiReduce final : public MpiTransfer {
 public:
  MpiReduce(MPI_Comm group, const Operation& operation, std::uint32_t size)
      : MpiTransfer(group, operation), form_(working_form(operation.request.op, operation.data.dtype, size)) {}

 private:
  void start() override {
    const Elements& data = operation_.data;
    copy_ = Buffer::heap(data.count * size_of(form_.dtype));
    to_working_form(form_, data.dtype, data.data, copy_.data(), data.count);
    check_mpi(MPI_Iallreduce(MPI_IN_PLACE, copy_.data(), static_cast<int>(data.count), mpi_type(form_.dtype),
                             mpi_op(form_.op), group_, &request_),
              "MPI_Iallreduce");
  }

  void finish() override {
    const Elements& data = operation_.data;
    from_working_form(form_, data.dtype, copy_.data(), data.data, data.count);
  }

  const WorkingForm form_;
};

class MpiTransport final : public Transport {
 public:
  explicit MpiTransport(const CollectiveContext& context)
      : group_(make_communicator(context)), size_(static_cast<std::uint32_t>(context.ranks.size())) {}

  std::unique_ptr<Transfer> begin(const Operation& operation) override {
    const OperationKind kind = operation.request.kind;
    if (kind == OperationKind::kBroadcast || kind == OperationKind::kAllGather) {
      return std::make_unique<MpiMove>(group_, operation);
    }
    return std::make_unique<MpiReduce>(group_, operation, size_);
  }

  bool must_be_polled() const override { return true; }

  // A transfer works on a copy of the elements, so the caller's memory can be freed immediately.
  void abort(Transfer* /*under_way*/) override { give_up_mpi(); }

 private:
  const MPI_Comm group_;  ///< Never freed, because all members would have to take part in freeing it.
  const std::uint32_t size_;
};

}  // namespace

void Mpi::check() const { check_reachable(context()); }

Backend Mpi::open() {
  Mesh* mesh = nullptr;
  Backend backend = over_mesh(context(), Sockets::kIpc, mesh);
  backend.transport = std::make_unique<MpiTransport>(context());
  return backend;
}

}  // namespace trainyard::collectives

TRAINYARD_COLLECTIVE(trainyard::collectives::Mpi, "mpi", "by Open MPI, between ranks in separate processes")
