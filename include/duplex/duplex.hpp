#pragma once
// Duplex, the one include: bilevel optimization, min F(x, y) s.t. y ∈ argmin f(x, ·).

#include <duplex/aggregate.hpp>
#include <duplex/any_problem.hpp>
#include <duplex/catalog.hpp>
#include <duplex/certificate.hpp>
#include <duplex/check.hpp>
#include <duplex/diagnosis.hpp>
#include <duplex/exact.hpp>
#include <duplex/linear.hpp>
#include <duplex/lyapunov.hpp>
#include <duplex/metrics.hpp>
#include <duplex/observer.hpp>
#include <duplex/problem.hpp>
#include <duplex/random.hpp>
#include <duplex/residual.hpp>
#include <duplex/solver.hpp>
#include <duplex/space.hpp>
#include <duplex/stepsize.hpp>
#include <duplex/stochastic.hpp>
#include <duplex/summary.hpp>
#include <duplex/upper_rule.hpp>
#include <duplex/verification.hpp>
#include <duplex/version.hpp>
