#pragma once
// Duplex, the one include: bilevel optimization, min F(x, y) s.t. y ∈ argmin f(x, ·).

#include <duplex/core/random.hpp>
#include <duplex/measure/certificate.hpp>
#include <duplex/measure/check.hpp>
#include <duplex/measure/exact.hpp>
#include <duplex/measure/lyapunov.hpp>
#include <duplex/measure/residual.hpp>
#include <duplex/measure/verification.hpp>
#include <duplex/methods.hpp>
#include <duplex/problem/aggregate.hpp>
#include <duplex/problem/any_problem.hpp>
#include <duplex/problem/bounded.hpp>
#include <duplex/problem/by_differences.hpp>
#include <duplex/problem/problem.hpp>
#include <duplex/problem/stochastic.hpp>
#include <duplex/run/diagnosis.hpp>
#include <duplex/run/kept_direction.hpp>
#include <duplex/run/metrics.hpp>
#include <duplex/run/observer.hpp>
#include <duplex/run/summary.hpp>
#include <duplex/solve.hpp>
#include <duplex/space/box.hpp>
#include <duplex/space/space.hpp>
#include <duplex/step/step_sizes.hpp>
#include <duplex/step/upper_rule.hpp>
#include <duplex/version.hpp>
