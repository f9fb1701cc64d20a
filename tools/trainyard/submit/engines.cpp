// SPDX-License-Identifier: Apache-2.0
#include "messages/error.h"
#include "messages/nearest.h"
#include "messages/printable.h"
#include "tools/trainyard/submit/engine.h"
#include "tools/trainyard/submit/jobset.h"
#include "tools/trainyard/submit/mpirun.h"
#include "tools/trainyard/submit/slurm.h"
#include "tools/trainyard/submit/trainjob.h"

namespace trainyard::tools::submit {

const std::vector<std::string>& engine_names() {
  static const std::vector<std::string> kNames{"slurm", "jobset", "trainjob", "mpirun"};
  return kNames;
}

std::unique_ptr<Engine> find_engine(const std::string& name) {
  if (name == "slurm") return std::make_unique<Slurm>();
  if (name == "jobset") return std::make_unique<JobSet>();
  if (name == "trainjob") return std::make_unique<TrainJob>();
  if (name == "mpirun") return std::make_unique<Mpirun>();
  throw Error(Code::kInvalidArgument, "no engine '{}'{}", printable_line(name), suggestion(name, engine_names()));
}

}  // namespace trainyard::tools::submit
