// A run allocates before and during its first step and never again, and what it
// holds is what its header says. Every allocation is counted, Eigen's included.

#include "noisy_problem.hpp"

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <limits>

#if defined(__has_feature)
#define CLANG_HAS(feature) __has_feature(feature)
#else
#define CLANG_HAS(feature) false
#endif
#if defined(__SANITIZE_ADDRESS__) || CLANG_HAS(address_sanitizer)
#define UNDER_ADDRESS_SANITIZER
#endif

#if defined(UNDER_ADDRESS_SANITIZER)
// AddressSanitizer's run-time library has it; its header is not everywhere.
extern "C" int __sanitizer_install_malloc_and_free_hooks(void (*)(const volatile void *, std::size_t),
                                                         void (*)(const volatile void *));
#endif

namespace {

std::atomic<std::size_t> allocations{0};
std::atomic<std::size_t> bytes_asked{0};

void count(std::size_t bytes) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  bytes_asked.fetch_add(bytes, std::memory_order_relaxed);
}

#if defined(UNDER_ADDRESS_SANITIZER)

const bool hooked = __sanitizer_install_malloc_and_free_hooks([](const volatile void *, std::size_t n) { count(n); },
                                                              [](const volatile void *) {}) > 0;

#else

constexpr bool hooked = true;

#endif

} // namespace

#if !defined(UNDER_ADDRESS_SANITIZER)

// glibc allows a program to replace its allocator; operator new ends here too.
extern "C" {
void *__libc_malloc(std::size_t);
void *__libc_calloc(std::size_t, std::size_t);
void *__libc_realloc(void *, std::size_t);
void *__libc_memalign(std::size_t, std::size_t);
void __libc_free(void *);

void *malloc(std::size_t n) {
  count(n);
  return __libc_malloc(n);
}
void *calloc(std::size_t n, std::size_t each) {
  count(n * each);
  return __libc_calloc(n, each);
}
void *realloc(void *old, std::size_t n) {
  count(n);
  return __libc_realloc(old, n);
}
void *memalign(std::size_t alignment, std::size_t n) {
  count(n);
  return __libc_memalign(alignment, n);
}
void *aligned_alloc(std::size_t alignment, std::size_t n) { return memalign(alignment, n); }
int posix_memalign(void **out, std::size_t alignment, std::size_t n) {
  *out = memalign(alignment, n);
  return *out == nullptr ? ENOMEM : 0;
}
void free(void *old) { __libc_free(old); }
}

#endif

namespace duplex::testing {
namespace {

struct Usage {
  std::size_t allocations = 0;
  std::size_t bytes = 0;
};

template <class Action> Usage usage_of(Action &&action) {
  const std::size_t calls = allocations;
  const std::size_t bytes = bytes_asked;
  std::forward<Action>(action)();
  return {allocations - calls, bytes_asked - bytes};
}

/// What solve() allocates for a run of that many steps.
template <class P, class S> Usage usage_of_run(const P &problem, const S &solver, std::int64_t steps) {
  auto state = problem.start();
  Summary summary;
  const Usage usage = usage_of([&] { summary = run_steps(problem, solver, state, steps); });
  EXPECT_EQ(summary.iterations, steps) << summary.brief();
  return usage;
}

/// Counts the allocations that happen from the end of step 1 to the end of the run.
class CountAfterFirstStep final : public Observer<Vec> {
public:
  void observe(const Progress<Vec> &progress) override {
    if (progress.iteration == 1) {
      after_first_ = allocations;
    }
    later_ = allocations - after_first_;
    last_iteration_ = progress.iteration;
  }
  [[nodiscard]] std::size_t later() const { return later_; }
  [[nodiscard]] std::int64_t last_iteration() const { return last_iteration_; }

private:
  std::size_t after_first_ = 0;
  std::size_t later_ = 0;
  std::int64_t last_iteration_ = 0;
};

template <class P, class S> void expect_no_allocation_after_first_step(const P &problem, const S &solver) {
  CountAfterFirstStep counter;
  Monitor<Vec> monitor;
  monitor.observers = {&counter};
  auto state = problem.start();
  (void)solve(problem, solver, state, {.max_iterations = 50}, monitor);
  EXPECT_EQ(counter.last_iteration(), 50);
  EXPECT_EQ(counter.later(), 0U) << S::name;
  EXPECT_EQ(usage_of_run(problem, solver, 2).allocations, usage_of_run(problem, solver, 200).allocations) << S::name;
}

TEST(AllocationCounter, SeesEigenAndOperatorNew) {
  ASSERT_TRUE(hooked);
  Vec kept;
  const Usage vector = usage_of([&] { kept = Vec::Zero(1000); });
  EXPECT_GE(vector.allocations, 1U);
  EXPECT_GE(vector.bytes, 1000 * sizeof(double));
  std::vector<double> numbers;
  EXPECT_EQ(usage_of([&] { numbers.resize(10); }).allocations, 1U);
  EXPECT_EQ(usage_of([&] { kept.setOnes(); }).allocations, 0U);
}

std::vector<Bagdc> bagdc_of_every_kind(const std::vector<double> &weights) {
  std::vector<Bagdc> solvers;
  for (const auto dual : {DualStep::constant, DualStep::adaptive, DualStep::relaxed, DualStep::polak_ribiere}) {
    for (const bool fused : {true, false}) {
      for (const double mu : weights) {
        for (const auto method : {UpperMethod::gradient, UpperMethod::momentum, UpperMethod::adam}) {
          solvers.push_back({.alpha = 1e-3,
                             .beta = 1e-2,
                             .eta = 0.1,
                             .dual = dual,
                             .mu = mu,
                             .fused = fused,
                             .upper = {.method = method}});
        }
      }
    }
  }
  solvers.push_back({.alpha = 1e-3, .beta = 1e-2, .eta = 0.1, .dual = DualStep::constant, .mixing = 4});
  return solvers;
}

template <class P>
void expect_bagdc_allocates_nothing(const P &problem, const std::vector<double> &weights = {0.0, 0.3}) {
  for (const Bagdc &solver : bagdc_of_every_kind(weights)) {
    SCOPED_TRACE(std::string(name_of(solver.dual)) + (solver.fused ? " fused" : "") + " mu " + number_text(solver.mu) +
                 " " + std::string(name_of(solver.upper.method)));
    expect_no_allocation_after_first_step(problem, solver);
  }
}

constexpr Index entries = 40;

TEST(BagdcAllocatesNothingAfterItsFirstStep, OnCounterExamples) {
  const Vec spectrum = log_spaced_spectrum<double>(entries, 10.0, 0.1);
  expect_bagdc_allocates_nothing(CounterExample(IdentityMatrix(entries), Vec::Ones(entries).eval()));
  expect_bagdc_allocates_nothing(CounterExample(DiagonalSpd<double>(spectrum), Vec::Ones(entries).eval()));
  expect_bagdc_allocates_nothing(
      CounterExample(DenseSpd<double>::with_spectrum(spectrum, 1), Vec::Ones(entries).eval()));
}

TEST(BagdcAllocatesNothingAfterItsFirstStep, OnManyMinimizers) {
  expect_bagdc_allocates_nothing(MultipleMinimizers<double>(entries), {0.3}); // line searches need μ > 0 here
}

TEST(BagdcAllocatesNothingAfterItsFirstStep, OnRidgeAndQuadratic) {
  expect_bagdc_allocates_nothing(RidgeSettings{}.generate<double>());
  expect_bagdc_allocates_nothing(QuadraticSettings{}.generate<double>());
}

TEST(BagdcAllocatesNothingAfterItsFirstStep, OnPenalizedSoftmaxInWholeAndInBatches) {
  const auto expect_nothing = [](const PenalizedSoftmax<double> &problem) {
    const Bagdc solver{.alpha = 1e-3, .beta = 1e-2, .eta = 0.1, .dual = DualStep::constant};
    expect_no_allocation_after_first_step(problem, solver);
    const auto batches = in_batches(problem, 16); // of 60, so that the last is smaller
    auto state = problem.start();
    const auto usage = [&](std::int64_t steps) {
      return usage_of([&] { (void)solve(batches, solver, state, {.max_iterations = steps}); }).allocations;
    };
    EXPECT_EQ(usage(8), usage(200));
  };
  expect_nothing(LogisticSettings{}.generate<double>());
  expect_nothing(LogisticSettings{.bias = false}.generate<double>());
  expect_nothing(SoftmaxSettings{}.generate<double>());
}

TEST(BagdcAllocatesNothingAfterItsFirstStep, WithItsTypeForgotten) {
  expect_bagdc_allocates_nothing(CounterExampleSettings{.n = entries, .matrix = MatrixKind::dense}.make<double>());
}

TEST(OtherSolvers, AllocateNothingAfterTheirFirstStep) {
  const auto problem = QuadraticSettings{}.generate<double>();
  expect_no_allocation_after_first_step(problem, Nosa{.alpha = 1e-3});
  expect_no_allocation_after_first_step(problem, Rhg{.alpha = 1e-3, .inner = 5});
  expect_no_allocation_after_first_step(problem, Rhg{.alpha = 1e-3, .inner = 5, .inner_start = InnerStart::cold});
  expect_no_allocation_after_first_step(problem, Bda{.alpha = 1e-3, .inner = 5});
  expect_no_allocation_after_first_step(problem, Cg{.alpha = 1e-3, .inner = 5});
  expect_no_allocation_after_first_step(problem, Neumann{.alpha = 1e-3, .inner = 5});
  expect_no_allocation_after_first_step(problem, STfbo{});
  expect_no_allocation_after_first_step(problem, Soba{.alpha = 1e-3});
  expect_no_allocation_after_first_step(problem, MaSoba{.alpha = 1e-3});
  expect_no_allocation_after_first_step(problem, Saba{.alpha = 1e-3});
  expect_no_allocation_after_first_step(problem, Srba{.alpha = 1e-3});
  expect_no_allocation_after_first_step(problem, Spaba{.alpha = 1e-3});
  expect_no_allocation_after_first_step(problem, Sbagdc{.alpha = 1e-3, .reduced = true});
  expect_no_allocation_after_first_step(by_differences(problem), Soba{.alpha = 1e-3});
  expect_no_allocation_after_first_step(problem, F2sa{.alpha = 1e-3, .inner = 5});
  expect_no_allocation_after_first_step(problem, Pbgd{.alpha = 1e-3, .inner = 5});
  expect_no_allocation_after_first_step(problem, Bome{.alpha = 1e-3, .inner = 5});
  expect_no_allocation_after_first_step(problem, Meha{.alpha = 1e-3});
  expect_no_allocation_after_first_step(problem, DTfbo{.inner = 5});
}

TEST(StochasticRun, AllocatesNothingAfterItsFirstStep) {
  const Noisy problem(20, entries, 5);
  expect_bagdc_allocates_nothing(problem);
  expect_no_allocation_after_first_step(problem, Rhg{.alpha = 1e-3, .inner = 5});
}

TEST(StochasticRun, InBatchesAllocatesNothingAfterItsFirstStep) {
  const NoisySum problem(20, 12, entries);
  const auto batches = in_batches(problem, 5);
  expect_bagdc_allocates_nothing(batches);
  expect_no_allocation_after_first_step(batches, Soba{.alpha = 1e-3});
  expect_no_allocation_after_first_step(batches, Saba{.alpha = 1e-3});
  expect_no_allocation_after_first_step(batches, Srba{.alpha = 1e-3});
  expect_no_allocation_after_first_step(batches, Spaba{.alpha = 1e-3});
  expect_no_allocation_after_first_step(batches, Sbagdc{.alpha = 1e-3});
  expect_no_allocation_after_first_step(batches, Sbagdc{.alpha = 1e-3, .reduced = true});
}

TEST(Measuring, TheKktResidualAllocatesNothingAfterItsFirstTime) {
  const auto problem = QuadraticSettings{}.generate<double>();
  const auto usage = [&](std::int64_t steps) {
    auto state = problem.start();
    return usage_of([&] {
             (void)solve(problem, Bagdc{.alpha = 1e-3, .beta = 0.2}, state,
                         {.max_iterations = steps, .kkt_tolerance = 1e-30});
           })
        .allocations;
  };
  EXPECT_EQ(usage(2), usage(200));
}

constexpr Index large = 4096;

/// Bytes in units of one large vector; names, metrics and pointers are small beside it.
double vectors(const Usage &usage) { return static_cast<double>(usage.bytes) / (large * sizeof(double)); }

TEST(MemoryOf, BagdcIsAConstantNumberOfVectors) {
  const CounterExample problem(IdentityMatrix(large), Vec::Ones(large).eval());
  const Bagdc solver{.alpha = 1e-3, .beta = 0.2, .dual = DualStep::constant};
  const Usage run = usage_of_run(problem, solver, 2);
  EXPECT_EQ(run.bytes, usage_of_run(problem, solver, 300).bytes);
  // Six of its own and, in the evaluations, Ay at y, at y⁺ for f and at y⁺ for F.
  EXPECT_GE(vectors(run), 6.0);
  EXPECT_LE(vectors(run), 9.1);
}

TEST(MemoryOf, UnrolledMethodsIsTheirHorizonAndAFewVectors) {
  const CounterExample problem(IdentityMatrix(large), Vec::Ones(large).eval());
  const auto of_rhg = [&](std::int64_t inner, std::int64_t kept, std::int64_t steps) {
    return vectors(usage_of_run(problem, Rhg{.alpha = 1e-3, .inner = inner, .kept = kept}, steps));
  };
  EXPECT_NEAR(of_rhg(40, 0, 2) - of_rhg(10, 0, 2), 30.0, 0.1);
  EXPECT_LE(of_rhg(10, 0, 2), 10.0 + 9.1);
  EXPECT_EQ(of_rhg(10, 0, 2), of_rhg(10, 0, 20));
  EXPECT_NEAR(of_rhg(40, 5, 2), of_rhg(20, 5, 2), 0.1); // truncated: by what is kept, not by T
  const auto of_bda = [&](std::int64_t inner) {
    return vectors(usage_of_run(problem, Bda{.alpha = 1e-3, .inner = inner}, 2));
  };
  EXPECT_NEAR(of_bda(40) - of_bda(10), 30.0, 0.1);
}

TEST(MemoryOf, ImplicitMethodsDoesNotGrowWithTheirHorizon) {
  const CounterExample problem(IdentityMatrix(large), Vec::Ones(large).eval());
  EXPECT_EQ(usage_of_run(problem, Cg{.alpha = 1e-3, .inner = 3}, 3).bytes,
            usage_of_run(problem, Cg{.alpha = 1e-3, .inner = 30}, 3).bytes);
  EXPECT_EQ(usage_of_run(problem, Neumann{.alpha = 1e-3, .inner = 3, .terms = 3}, 3).bytes,
            usage_of_run(problem, Neumann{.alpha = 1e-3, .inner = 30, .terms = 30}, 3).bytes);
}

TEST(MemoryOf, SabaIsATableOfItsBatchesAndThatOfItsKinIsNot) {
  const auto of = [](Index rows, Index upper_rows, const auto &solver) {
    const NoisySum problem(rows, upper_rows, large);
    return vectors(usage_of_run(in_batches(problem, 4), solver, 3));
  };
  const Saba saba{.alpha = 1e-3};
  EXPECT_NEAR(of(40, 20, saba) - of(20, 20, saba), 5.0 * 3.0, 0.1) << "two like y and one like x for each of five";
  EXPECT_NEAR(of(20, 40, saba) - of(20, 20, saba), 5.0 * 2.0, 0.1);
  const Srba srba{.alpha = 1e-3};
  EXPECT_NEAR(of(40, 40, srba), of(20, 20, srba), 0.1);
  const Spaba spaba{.alpha = 1e-3};
  EXPECT_NEAR(of(40, 40, spaba), of(20, 20, spaba), 0.1);
}

} // namespace
} // namespace duplex::testing
