// SPDX-License-Identifier: Apache-2.0
#include "devices/test_device/update_kernels.h"

namespace trainyard::test_device {
namespace {

// load() converts a stored number to the type of the calculation, and store() converts it back. The conversions of
// 16-bit floats are in messages/half.h.
inline float load(float x) { return x; }
inline double load(double x) { return x; }
inline void store(float x, float& to) { to = x; }
inline void store(double x, double& to) { to = x; }

template <class Rule, class T, class A>
void update_with(const UpdateSlices<T, A>& slices, const devices::Coefficients<A>& c) {
  for (std::size_t i = 0; i < slices.count; ++i) {
    A state[3] = {};
    for (int k = 0; k < Rule::kStates; ++k) state[k] = slices.state[k][i];
    const A gradient = load(slices.gradients[i]) * c.gradient_scale;
    store(Rule::update(load(slices.parameters[i]), gradient, state[0], state[1], state[2], c), slices.parameters[i]);
    for (int k = 0; k < Rule::kStates; ++k) slices.state[k][i] = state[k];
    slices.gradients[i] = T{};
  }
}

template <class T, class A>
void update_by(devices::Formula formula, const UpdateSlices<T, A>& slices, const devices::Coefficients<A>& c) {
  devices::with_rule(formula, [&](auto rule) { update_with<decltype(rule)>(slices, c); });
}

}  // namespace

void update(devices::Formula formula, const UpdateSlices<float, float>& slices,
            const devices::Coefficients<float>& coefficients) {
  update_by(formula, slices, coefficients);
}

void update(devices::Formula formula, const UpdateSlices<double, double>& slices,
            const devices::Coefficients<double>& coefficients) {
  update_by(formula, slices, coefficients);
}

void update(devices::Formula formula, const UpdateSlices<BFloat16, float>& slices,
            const devices::Coefficients<float>& coefficients) {
  update_by(formula, slices, coefficients);
}

void update(devices::Formula formula, const UpdateSlices<Float16, float>& slices,
            const devices::Coefficients<float>& coefficients) {
  update_by(formula, slices, coefficients);
}

}  // namespace trainyard::test_device
