// A[u, w] by Eigen: what a dense step would cost if it formed these products and did
// nothing else.

#include "benchmarks.hpp"

#include <Eigen/Core>
#include <benchmark/benchmark.h>

#include <map>
#include <string>

namespace duplex::bench {

namespace {

using Matrix = Eigen::MatrixXd;
using Pair = Eigen::Matrix<double, Eigen::Dynamic, 2>;

const Matrix &symmetric(Eigen::Index n) {
  static std::map<Eigen::Index, Matrix> made;
  auto &a = made[n];
  if (a.size() == 0) {
    const Eigen::VectorXd c = Eigen::VectorXd::Random(n);
    a = c * c.transpose();
  }
  return a;
}

/// A·[u, w], one product of matrices.
void together(const Matrix &a, const Pair &uw, Pair &out) { out.noalias() = a * uw; }

/// A·u, then A·w.
void apart(const Matrix &a, const Pair &uw, Pair &out) {
  out.col(0).noalias() = a * uw.col(0);
  out.col(1).noalias() = a * uw.col(1);
}

/// The same from half of A.
void apart_from_half(const Matrix &a, const Pair &uw, Pair &out) {
  out.col(0).noalias() = a.selfadjointView<Eigen::Lower>() * uw.col(0);
  out.col(1).noalias() = a.selfadjointView<Eigen::Lower>() * uw.col(1);
}

template <class Product> void add(const std::string &name, Eigen::Index n, Product product) {
  const auto run = [=](benchmark::State &state) {
    const Matrix &a = symmetric(n);
    const Pair uw = Pair::Random(n, 2);
    Pair out = Pair::Zero(n, 2);
    for ([[maybe_unused]] auto _ : state) {
      product(a, uw, out);
      benchmark::DoNotOptimize(out.data());
      benchmark::ClobberMemory();
    }
    state.counters["threads"] = Eigen::nbThreads();
  };
  benchmark::RegisterBenchmark((name + "/" + std::to_string(n)).c_str(), run)->UseRealTime();
}

} // namespace

void register_eigen_pass() {
  for (const Eigen::Index n : {1024, 2048, 4096}) {
    add("eigen/together", n, together);
    add("eigen/apart", n, apart);
    add("eigen/apart_from_half", n, apart_from_half);
  }
}

} // namespace duplex::bench
