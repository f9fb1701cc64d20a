// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "devices/test_device/test_stream.h"
#include "devices/update.h"

namespace trainyard::test_device {

/// An update that runs as a single kernel on a stream of a test device.
class KernelUpdate final : public devices::Update {
 public:
  /// Throws kUnsupported if the parameters are not floating-point numbers. `stream` must exist for as long as this
  /// object.
  KernelUpdate(TestStream& stream, const devices::UpdateRequest& request, devices::UpdateRegions regions);

  void run(std::span<const devices::Coefficients<double>> coefficients) override;

 private:
  using Coefficients = std::vector<devices::Coefficients<double>>;

  template <class T, class A>
  TestStream::Kernel kernel(Coefficients coefficients) const;
  TestStream::Kernel kernel(Coefficients coefficients) const;

  TestStream& stream_;
  devices::Formula formula_;
  std::vector<devices::UpdateRange> ranges_;
  DType dtype_;
  std::vector<devices::Region> regions_;  ///< The parameters, the gradients, and then the state.
};

}  // namespace trainyard::test_device
