// SPDX-License-Identifier: Apache-2.0
#include "collectives/mpi/library.h"

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>

#include "collectives/mpi/own_job.h"
#include "collectives/request.h"
#include "core/rendezvous/rendezvous.h"
#include "messages/error.h"

namespace trainyard::collectives {
namespace {

std::atomic<bool> given_up{false};

void finalise() {
  int is_over = 0;
  MPI_Finalized(&is_over);
  if (is_over == 0 && !given_up) MPI_Finalize();
  give_place_back(given_up ? Farewell::kAtOnce : Farewell::kTogether);
}

void initialise(const CollectiveContext& context) {
  static std::mutex once;  // Several threads may make collectives at the same time.
  const std::lock_guard lock(once);
  int is_there = 0;
  MPI_Initialized(&is_there);
  if (is_there == 0) {
    if (is_of_a_run()) take_place(context);
    ::setenv("OMPI_MCA_pml", "ob1", 0);
    ::setenv("OMPI_MCA_btl", "self,vader", 0);
    int provided = 0;
    check_mpi(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
    std::atexit(finalise);
  }
  int provided = 0;
  MPI_Query_thread(&provided);
  if (provided < MPI_THREAD_MULTIPLE) {
    throw Error(Code::kUnsupported, "{}: this MPI serves one thread at a time; MPI_THREAD_MULTIPLE is needed",
                context.where);
  }
}

}  // namespace

void check_mpi(int result, const char* what) {
  if (result == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(result, text, &length);
  throw Error(Code::kIo, "{}: {}", what, std::string(text, static_cast<std::size_t>(length)));
}

void check_reachable(const CollectiveContext& context) {
  if (is_of_a_run()) return check_places(context);
  if (std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr) return;
  throw Error(Code::kUnsupported,
              "{}: this process was not started by mpirun; start the ranks with it, or choose another collective",
              context.where);
}

// The ranks of the run and those of MPI can be numbered differently, so the ranks exchange their numbers in
// MPI_COMM_WORLD.
MPI_Comm make_communicator(const CollectiveContext& context) {
  // This call waits for all ranks, which may be threads of this process, so it must not hold the lock of initialise().
  if (is_of_a_run()) refuse_shared_process(context);
  initialise(context);
  int own = 0;
  check_mpi(MPI_Comm_rank(MPI_COMM_WORLD, &own), "MPI_Comm_rank");
  std::vector<int> members;
  for (const std::string& text : core::exchange(*context.rendezvous, context.name + "/mpi", context.rank, context.ranks,
                                                std::to_string(own), context.timeout)) {
    members.push_back(std::stoi(text));
  }
  MPI_Group world, group;
  check_mpi(MPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
  check_mpi(MPI_Group_incl(world, static_cast<int>(members.size()), members.data(), &group), "MPI_Group_incl");
  // Groups that are made at the same time have different names, so the tag is computed from the name.
  const std::vector<std::uint64_t> letters(context.name.begin(), context.name.end());
  const int tag = static_cast<int>(hash_of(letters) & 0x7fff);
  MPI_Comm communicator = MPI_COMM_NULL;
  check_mpi(MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &communicator), "MPI_Comm_create_group");
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return communicator;
}

// If the user has started the process with mpirun, it must call MPI_Finalize; otherwise mpirun would report a crash.
void give_up_mpi() { given_up = is_of_a_run(); }

MPI_Datatype mpi_type(DType dtype) {
  switch (dtype) {
    case DType::kUInt8:
      return MPI_UINT8_T;
    case DType::kInt8:
      return MPI_INT8_T;
    case DType::kInt32:
      return MPI_INT32_T;
    case DType::kInt64:
      return MPI_INT64_T;
    case DType::kFloat32:
      return MPI_FLOAT;
    case DType::kFloat64:
      return MPI_DOUBLE;
    default:
      throw Error(Code::kInternal, "MPI does not reduce {}", name_of(dtype));
  }
}

MPI_Op mpi_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::kMin:
      return MPI_MIN;
    case ReduceOp::kMax:
      return MPI_MAX;
    case ReduceOp::kProduct:
      return MPI_PROD;
    default:
      return MPI_SUM;
  }
}

}  // namespace trainyard::collectives
