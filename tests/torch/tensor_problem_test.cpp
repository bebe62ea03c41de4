// Problems from losses on tensors: what is refused, and that every solver does on them what it does on Eigen vectors.

#include "torch_support.hpp"

#include <duplex/problems/hyper_cleaning.hpp>
#include <duplex/torch/captured.hpp>

namespace duplex::testing {
namespace {

using Losses = std::vector<at::Tensor>;

at::Tensor half_square(const at::Tensor &t) { return 0.5 * t.square().sum(); }

std::string refusal_of(const TensorLoss &upper, const TensorLoss &lower, const at::Tensor &x = at::ones(2),
                       const at::Tensor &y = at::ones(3)) {
  return refusal([&] { TensorProblem(upper, lower, Tensors({x}), Tensors({y})); });
}

at::Tensor good(Losses &x, Losses &y) { return half_square(y[0]) + x[0].sum() * y[0].sum(); }

TEST(TensorProblemRefuses, LossesThatAreNotOneFiniteNumber) {
  EXPECT_CONTAINS(refusal_of(good, [](Losses &, Losses &y) { return y[0] * 2; }), "lower: the loss has the shape [3]");
  EXPECT_CONTAINS(refusal_of([](Losses &, Losses &) { return at::Tensor(); }, good), "upper: the loss is undefined");
  EXPECT_CONTAINS(refusal_of([](Losses &, Losses &y) { return y[0].argmax(); }, good), "Long");
  EXPECT_CONTAINS(refusal_of([](Losses &, Losses &y) { return (y[0] - 2).log().sum(); }, good),
                  "upper: the loss at the start is nan");
}

TEST(TensorProblemRefuses, ALowerLossThatDoesNotDependOnY) {
  EXPECT_CONTAINS(refusal_of(good, [](Losses &x, Losses &) { return half_square(x[0]); }), "does not depend on y");
  EXPECT_CONTAINS(refusal_of(good, [](Losses &, Losses &y) { return half_square(y[0].detach()); }),
                  "does not depend on y");
}

TEST(TensorProblemRefuses, VariablesThatDoNotFitTogether) {
  EXPECT_CONTAINS(refusal_of(good, good, at::ones(2, at::kLong)), "tensor 0 holds numbers of type Long");
  EXPECT_CONTAINS(refusal_of(good, good, at::ones(2), at::ones(3, at::kDouble)), "one type");
  EXPECT_CONTAINS(refusal([] { Tensors({at::ones(2), at::Tensor()}); }), "tensor 1 is undefined");
  EXPECT_CONTAINS(refusal([] { TensorProblem(good, good, Tensors(), Tensors({at::ones(2)})); }), "x has no tensors");
}

TEST(Device, IsRefusedByNameWhereThereIsNone) {
  EXPECT_CONTAINS(refusal([] { (void)device_named("tpu"); }), "expected cpu, cuda or cuda:N");
  EXPECT_CONTAINS(refusal([] { (void)device_named("cpu:7"); }), "expected cpu, cuda or cuda:N");
  EXPECT_CONTAINS(refusal([] { (void)device_named("cuda:256"); }), "expected cpu, cuda or cuda:N");
  EXPECT_CONTAINS(refusal([] { (void)device_named("cuda:99"); }), "CUDA device");
  EXPECT_EQ(device_named("cpu"), at::Device(at::kCPU));
}

TEST(Tensors, AreCopiedByValueAndMovedByHandle) {
  Tensors a({at::ones(3), at::ones({2, 2})});
  Tensors b = a;
  scale(2.0, b);
  EXPECT_EQ(dot(a, a), 7.0);
  EXPECT_EQ(dot(b, b), 28.0);
  const void *memory = b[0].data_ptr();
  const Tensors c = std::move(b);
  EXPECT_EQ(c[0].data_ptr(), memory);
  a = c;
  EXPECT_NE(a[0].data_ptr(), memory);
  EXPECT_EQ(dot(a, c), 28.0);
}

TEST(Tensors, DrawTheSameNumbersAsEigenVectors) {
  std::mt19937_64 one(5);
  std::mt19937_64 other(5);
  Vec eigen(6);
  fill_normal(one, eigen);
  Tensors tensors({at::zeros(6, at::kDouble)});
  fill_normal(other, tensors);
  EXPECT_TRUE(same_bits(entries_of(tensors), eigen));
}

TEST(TensorProblem, GivesZerosForInputsThatALossDoesNotUse) {
  const TensorProblem problem([](const auto &, const auto &y) { return half_square(y[0]); },
                              [](const auto &, const auto &y) { return y[0].sum() + half_square(y[1]); },
                              Tensors({at::ones(2)}), Tensors({at::ones(3), at::ones(1)}));
  auto state = problem.start();
  set_zero(state.v);
  auto lower = problem.lower();
  auto upper = problem.upper();
  lower.at(state.x, state.y);
  upper.at(state.x, state.y);
  Tensors out;
  upper.grad_x(out);
  EXPECT_TRUE(same_bits(entries_of(out), Vec(Vec::Zero(2))));
  upper.grad_y(out);
  EXPECT_TRUE(same_bits(entries_of(out), Vec((Vec(4) << 1, 1, 1, 0).finished())));
  lower.cross_xy(state.y, out);
  EXPECT_TRUE(same_bits(entries_of(out), Vec(Vec::Zero(2))));
  lower.hess_yy(state.y, out);
  EXPECT_TRUE(same_bits(entries_of(out), Vec((Vec(4) << 0, 0, 0, 1).finished())));
}

TEST(TensorProblem, EvaluatesEachPointOnce) {
  auto lower_calls = std::make_shared<int>(0);
  auto upper_calls = std::make_shared<int>(0);
  const TensorProblem problem(
      [=](const auto &x, const auto &y) {
        ++*upper_calls;
        return half_square(x[0] - 1) + half_square(y[0]);
      },
      [=](const auto &x, const auto &y) {
        ++*lower_calls;
        return half_square(y[0]) - x[0].dot(y[0]);
      },
      Tensors({at::zeros(3)}), Tensors({at::zeros(3)}));
  *lower_calls = *upper_calls = 0;
  auto state = problem.start();
  (void)run_steps(problem, Bagdc{.alpha = 0.1, .beta = 0.2, .dual = DualStep::adaptive}, state, 10);
  EXPECT_EQ(*lower_calls, 20)
      << "at (x, y) for the gradient and the cross product, at (x, y+) for two Hessian products";
  EXPECT_EQ(*upper_calls, 10);
}

TEST(TensorProblem, PassesItsDerivativeCheck) {
  const TensorProblem problem(
      [](const auto &x, const auto &y) { return half_square(x[0] - 0.5) + (y[0].sin() * x[0]).sum(); },
      [](const auto &x, const auto &y) { return (x[0].exp() * y[0].square()).sum() + (y[0] - x[0]).cosh().sum(); },
      Tensors({at::full(4, 0.3, at::kDouble)}), Tensors({at::full(4, -0.2, at::kDouble)}));
  const auto report = check(problem);
  EXPECT_TRUE(report.passes()) << report.table();
}

/// All solvers with steps that every problem here bears; those that amplify rounding, by conjugate directions or by
/// least squares, for few steps.
template <class Visit> void with_every_solver(double alpha, double beta, std::int64_t steps, const Visit &visit) {
  constexpr std::int64_t few = 6;
  visit(Bagdc{.alpha = alpha, .beta = beta, .eta = beta, .dual = DualStep::constant, .fused = false}, steps);
  visit(Bagdc{.alpha = alpha, .beta = beta, .dual = DualStep::relaxed, .mu = 0.2, .upper = {UpperMethod::adam}}, steps);
  visit(Bagdc{.alpha = alpha, .beta = beta, .dual = DualStep::polak_ribiere}, few);
  visit(Bagdc{.alpha = alpha, .beta = beta, .eta = beta, .dual = DualStep::constant, .mixing = 3, .fused = false}, few);
  visit(Nosa{.alpha = alpha, .beta = beta, .upper = {UpperMethod::momentum}}, steps);
  visit(Rhg{.alpha = alpha, .beta = beta, .inner = 5}, steps);
  visit(Bda{.alpha = alpha, .beta = beta, .inner = 5}, steps);
  visit(Cg{.alpha = alpha, .beta = beta, .inner = 5, .linear_steps = 3}, steps);
  visit(Neumann{.alpha = alpha, .beta = beta, .inner = 5}, steps);
  visit(STfbo{.alpha = alpha, .beta = beta, .eta = beta}, steps);
  visit(Soba{.alpha = alpha, .beta = beta, .eta = beta}, steps);
  visit(Saba{.alpha = alpha, .beta = beta, .eta = beta}, steps);
  visit(Srba{.alpha = alpha, .beta = beta, .eta = beta, .period = 2.0}, steps);
  visit(Spaba{.alpha = alpha, .beta = beta, .eta = beta, .period = 2.0}, steps);
  visit(Sbagdc{.alpha = alpha, .beta = beta, .eta = beta}, steps);
  visit(Sbagdc{.alpha = alpha, .beta = beta, .eta = beta, .reduced = true, .period = 2.0}, steps);
  visit(F2sa{.alpha = alpha, .beta = beta, .inner = 5}, few);
  visit(Meha{.alpha = alpha, .beta = beta}, few);
  constexpr std::int64_t before_zero = 30; // an inner loop ends where a gradient is zero, which rounding decides
  visit(DTfbo{.alpha = alpha, .beta = beta, .eta = beta, .epsilon = 0.0, .inner = 5}, std::min(steps, before_zero));
}

template <class Scalar, class P>
void expect_the_same_iterates(const P &eigen, const TensorProblem &tensors, double alpha, double beta,
                              std::int64_t most_steps, double tolerance) {
  with_every_solver(alpha, beta, most_steps, [&](const auto &solver, std::int64_t steps) {
    std::string options;
    std::remove_cvref_t<decltype(solver)>::fields(solver,
                                                  [&](std::string_view field, const auto &value, const auto &...) {
                                                    options += " " + std::string(field) + "=" + field_text(value);
                                                  });
    SCOPED_TRACE(std::string(solver.name) + options);
    auto state = eigen.start();
    const auto summary = run_steps(eigen, solver, state, steps);
    auto tensor_state = tensors.start();
    const auto tensor_summary = run_steps(tensors, solver, tensor_state, steps);
    EXPECT_EQ(summary.iterations, steps) << summary.brief();
    EXPECT_EQ(tensor_summary.counters, summary.counters);
    EXPECT_LE(relative_error(entries_of(tensor_state.x), state.x.template cast<double>()), tolerance);
    EXPECT_LE(relative_error(entries_of(tensor_state.y), state.y.template cast<double>()), tolerance);
  });
}

template <class Scalar> void expect_the_same_counter_example(std::int64_t steps, double tolerance) {
  const Mat root = Mat::Random(12, 12);
  const Mat a = Mat::Identity(12, 12) + 0.05 * root * root.transpose();
  const CounterExample<Scalar, DenseSpd<Scalar>> eigen(DenseSpd<Scalar>(a.cast<Scalar>()),
                                                       Eigen::Matrix<Scalar, Eigen::Dynamic, 1>::Ones(12));
  const auto start = eigen.start();
  const auto tensors = counter_example_on_tensors<Scalar>(
      tensor_of<Scalar>(Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>(a.cast<Scalar>())),
      {start.x.template cast<double>(), start.y.template cast<double>(), {}});
  expect_the_same_iterates<Scalar>(eigen, tensors, 0.02, 0.3, steps, tolerance);
}

TEST(CounterExampleOnTensors, HasTheIteratesOfEigenInDoubles) { expect_the_same_counter_example<double>(100, 1e-10); }
TEST(CounterExampleOnTensors, HasTheIteratesOfEigenInFloats) { expect_the_same_counter_example<float>(500, 1e-4); }

template <class Scalar> void expect_the_same_ridge(std::int64_t steps, double tolerance) {
  using Matrix = Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic>;
  using Vector = Eigen::Matrix<Scalar, Eigen::Dynamic, 1>;
  const auto samples = [](Index n, int seed) {
    Matrix features =
        Eigen::Map<const Mat>(random_vector(n * 6, static_cast<std::uint64_t>(seed)).data(), n, 6).cast<Scalar>();
    const Vector targets = features * Vector::LinSpaced(6, -1, 1) + Scalar(0.1) * Vector::Ones(n);
    return typename Ridge<Scalar>::Samples{features, targets};
  };
  const auto training = samples(20, 1);
  const auto validation = samples(15, 2);
  const double rho = 0.01;
  const Ridge<Scalar> eigen(training, validation, rho);
  const auto misfit = [](const typename Ridge<Scalar>::Samples &of) {
    return [features = tensor_of<Scalar>(of.features), targets = tensor_of<Scalar>(of.targets)](const at::Tensor &y) {
      return 0.5 * (features.mv(y) - targets).square().mean();
    };
  };
  const TensorProblem tensors(
      [=, fit = misfit(validation)](const auto &x, const auto &y) { return fit(y[0]) + rho * half_square(x[0]); },
      [=, fit = misfit(training)](const auto &x, const auto &y) {
        return fit(y[0]) + 0.5 * (x[0].exp() * y[0].square()).sum();
      },
      Tensors({at::zeros(6, type_of<Scalar>)}), Tensors({at::zeros(6, type_of<Scalar>)}));
  expect_the_same_iterates<Scalar>(eigen, tensors, 0.05, 0.1, steps, tolerance);
}

TEST(RidgeOnTensors, HasTheIteratesOfEigenInDoubles) { expect_the_same_ridge<double>(100, 1e-10); }
TEST(RidgeOnTensors, HasTheIteratesOfEigenInFloats) { expect_the_same_ridge<float>(500, 1e-4); }

template <class Scalar> void expect_the_same_cleaning(std::int64_t steps, double tolerance) {
  HyperCleaningSettings settings;
  settings.samples = 40;
  const auto eigen = settings.generate<Scalar>();
  const auto loss_of = [&](const LabelledSamples &samples) {
    const Index n = samples.features->rows();
    const Index d = samples.features->columns();
    Eigen::Matrix<Scalar, Eigen::Dynamic, Eigen::Dynamic> features(n, d + 1);
    at::Tensor labels = at::empty({n}, at::kLong);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < d; ++j) {
        features(i, j) = static_cast<Scalar>(samples.features->value(i, j));
      }
      features(i, d) = 1;
      labels.data_ptr<std::int64_t>()[i] = (*samples.labels)[static_cast<std::size_t>(i)];
    }
    return [features = tensor_of<Scalar>(features), labels](const at::Tensor &y) {
      const auto scores = features.mm(y.t());
      return -at::log_softmax(scores, 1).gather(1, labels.unsqueeze(1)).squeeze(1);
    };
  };
  const TensorProblem tensors(
      [loss = loss_of(eigen.trusted())](const auto &, const auto &y) { return loss(y[0]).mean(); },
      [loss = loss_of(eigen.training()), rho = eigen.rho()](const auto &x, const auto &y) {
        return (x[0].sigmoid() * loss(y[0])).mean() + rho * half_square(y[0]);
      },
      Tensors({at::zeros(eigen.x_size(), type_of<Scalar>)}),
      Tensors({at::zeros({eigen.classes(), settings.features + 1}, type_of<Scalar>)}));
  expect_the_same_iterates<Scalar>(eigen, tensors, 0.1, 0.2, steps, tolerance);
}

TEST(HyperCleaningOnTensors, HasTheIteratesOfEigenInDoubles) { expect_the_same_cleaning<double>(100, 1e-10); }
TEST(HyperCleaningOnTensors, HasTheIteratesOfEigenInFloats) { expect_the_same_cleaning<float>(500, 1e-4); }

TEST(MemoryOfATensorRun, DoesNotGrowWithItsSteps) {
  const auto problem =
      counter_example_on_tensors<double>(at::eye(200, at::kDouble), {Vec::Zero(200), Vec::Zero(200), {}});
  const Bagdc solver{.alpha = 0.1, .beta = 0.2, .eta = 0.5, .dual = DualStep::constant};
  EXPECT_LT(GrowthWatch::of_run(resident_bytes, problem, solver, 2000), 1 << 20)
      << "a graph that is kept would cost 2000 times some kilobytes";
}

TEST(TensorProblemRefuses, WhatLibTorchRefusesWithTheLevelAndWithoutItsStack) {
  const auto message = refusal_of(good, [](Losses &x, Losses &y) { return x[0].dot(y[0]); });
  EXPECT_CONTAINS(message, "lower: ");
  EXPECT_EQ(message.find("frame #"), std::string::npos) << message;
  EXPECT_CONTAINS(refusal_of([](Losses &, Losses &y) { return (y[0] - 1).abs().sqrt().sum(); }, good),
                  "upper: the gradient at the start holds NaN or infinity");
}

TEST(TensorProblemRefuses, AStartOfOtherShapesTypesOrCounts) {
  const TensorProblem problem(good, good, Tensors({at::ones(2)}), Tensors({at::ones(3)}));
  const auto start_with = [&](const Tensors &y) {
    return refusal([&] {
      State<Tensors> state{Tensors({at::ones(2)}), y, {}};
      (void)run_steps(problem, Bagdc{.alpha = 0.1, .beta = 0.2}, state, 1);
    });
  };
  EXPECT_CONTAINS(start_with(Tensors({at::ones({3, 1})})), "tensor 0 of y is [3, 1]");
  EXPECT_CONTAINS(start_with(Tensors({at::ones(3, at::kDouble)})), "Double");
  EXPECT_CONTAINS(start_with(Tensors({at::ones(1), at::ones(2)})), "y has 2 tensors, the problem expects 1");
}

TEST(TensorProblem, StartsWhereItWasMadeWhateverHappensToTheTensors) {
  const auto x = at::ones(2);
  const TensorProblem problem(good, good, Tensors({x}), Tensors({at::ones(3)}));
  x.fill_(7.0);
  EXPECT_TRUE(same_bits(entries_of(problem.start().x), Vec(Vec::Ones(2))));
}

TEST(CapturedSteps, AreRefusedOrLeftAloneWithoutADevice) {
  const auto problem = counter_example_on_tensors<double>(at::eye(3, at::kDouble), {Vec::Zero(3), Vec::Zero(3), {}});
  const Bagdc solver{.alpha = 0.1, .beta = 0.2, .eta = 0.5, .dual = DualStep::constant};
  auto state = problem.start();
  EXPECT_CONTAINS(refusal([&] {
                    (void)run_steps(problem, Captured<Bagdc>{solver, Capture::on}, state, 3);
                  }),
                  "not on a CUDA device");
  EXPECT_CONTAINS(refusal([&] {
                    (void)run_steps(problem, Captured<Bagdc>{{.alpha = 0.1, .beta = 0.2}, Capture::on}, state, 3);
                  }),
                  "dual = constant");
  auto plain = problem.start();
  (void)run_steps(problem, solver, plain, 20);
  auto captured = problem.start();
  (void)run_steps(problem, Captured<Bagdc>{solver}, captured, 20);
  EXPECT_TRUE(same_bits(entries_of(captured.x), entries_of(plain.x)));
}

} // namespace
} // namespace duplex::testing
