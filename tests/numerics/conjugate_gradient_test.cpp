// The iteration of conjugate gradients, on which every solve with a Hessian is built, against what theory says of it.

#include "support.hpp"

#include <duplex/numerics/conjugate_gradient.hpp>

#include <vector>

namespace duplex::testing {
namespace {

auto multiplied_by(const Vec &spectrum) {
  return [&spectrum](const Vec &in, Vec &out) { out = spectrum.cwiseProduct(in); };
}

TEST(ConjugateGradients, SayThatAProductIsNotFinite) {
  for (const double spoilt : {std::nan(""), infinity}) {
    Vec v = Vec::Zero(3);
    const auto solved = ConjugateGradient<Vec>().solve([&](const Vec &, Vec &out) { out.setConstant(spoilt); },
                                                       Vec(Vec::Ones(3)), v, {}, true);
    EXPECT_EQ(solved.status, LinearStatus::not_finite);
    EXPECT_EQ(v.norm(), 0.0);
  }
}

TEST(ConjugateSteps, StayWhereTheyAreOnZeroAndNegativeCurvature) {
  for (const auto &[curvature, status] :
       {std::pair{0.0, LinearStatus::singular}, {-1.0, LinearStatus::indefinite}, {1.0, LinearStatus::converged}}) {
    const Vec spectrum = Vec::Constant(2, curvature);
    ConjugateStep<Vec> step;
    Vec residual = Vec::Ones(2);
    Vec solution = Vec::Zero(2);
    step.restart(residual);
    EXPECT_EQ(step.move(multiplied_by(spectrum), residual, 2.0, residual, solution), status);
    EXPECT_EQ(solution[0], status == LinearStatus::converged ? 1.0 : 0.0);
    EXPECT_EQ(residual[0], status == LinearStatus::converged ? 0.0 : 1.0);
  }
}

TEST(ConjugateSteps, AreConjugateAndEndAfterAsManyStepsAsThereAreEigenvalues) {
  Vec spectrum(9);
  spectrum << 1.0, 1.0, 1.0, 4.0, 4.0, 4.0, 9.0, 9.0, 9.0;
  const Vec right = random_vector(9, 1);
  Vec residual = right;
  Vec solution = Vec::Zero(9);
  ConjugateStep<Vec> step;
  step.restart(residual);
  std::vector<Vec> images;
  for (int k = 0; k < 3; ++k) {
    ASSERT_EQ(step.move(multiplied_by(spectrum), residual, residual.squaredNorm(), residual, solution),
              LinearStatus::converged);
    for (const Vec &image : images) {
      EXPECT_NEAR(image.dot(step.direction()), 0.0, 1e-12);
    }
    EXPECT_DOUBLE_EQ(step.curvature(), step.direction().dot(step.image()));
    EXPECT_DOUBLE_EQ(step.quotient(), step.curvature() / step.direction().squaredNorm());
    images.push_back(step.image());
  }
  EXPECT_LE(relative_error(solution, right.cwiseQuotient(spectrum)), 1e-13);
}

TEST(ConjugateSteps, ByAnInverseJudgeZeroBesideItAndTellHowMuchFlatterTheHessianIs) {
  const Vec units = (Vec(2) << 1e-9, 1e9).finished(); // of e's entries: H and M go with their squares
  const Vec inverse = units.cwiseAbs2();
  const auto moved = [&](double flatter, double &stretch) {
    const Vec spectrum = flatter * inverse.cwiseInverse();
    ConjugateStep<Vec> step;
    Vec residual = units.cwiseInverse();
    Vec solution = Vec::Zero(2);
    step.restart(residual);
    const Vec preconditioned = inverse.cwiseProduct(residual);
    const LinearStatus status = step.move_by_inverse(multiplied_by(spectrum), preconditioned,
                                                     dot(residual, preconditioned), residual, solution);
    stretch = step.stretch();
    EXPECT_EQ(solution.norm() > 0.0, status == LinearStatus::converged);
    return status;
  };
  double stretch = 0.0;
  EXPECT_EQ(moved(1.0, stretch), LinearStatus::converged);
  EXPECT_NEAR(stretch, 1.0, 1e-14);
  EXPECT_EQ(moved(0.25, stretch), LinearStatus::converged);
  EXPECT_NEAR(stretch, 4.0, 1e-13);
  EXPECT_EQ(moved(0.0, stretch), LinearStatus::singular);
  EXPECT_EQ(moved(-1.0, stretch), LinearStatus::indefinite);
  EXPECT_EQ(moved(std::nan(""), stretch), LinearStatus::not_finite);
}

TEST(ConjugateSteps, WithTheInverseForAPreconditionerAreOne) {
  const Vec spectrum = log_spaced_spectrum<double>(20, 1e6, 1.0);
  const Vec right = random_vector(20, 2);
  Vec residual = right;
  const Vec preconditioned = right.cwiseQuotient(spectrum);
  Vec solution = Vec::Zero(20);
  ConjugateStep<Vec> step;
  step.restart(residual);
  ASSERT_EQ(step.move(multiplied_by(spectrum), preconditioned, residual.dot(preconditioned), residual, solution),
            LinearStatus::converged);
  EXPECT_DOUBLE_EQ(step.length(), 1.0);
  EXPECT_LE(relative_error(solution, preconditioned), 1e-14);
}

TEST(ConjugateGradients, MeetTheExtremeEigenvalues) {
  const Vec spectrum = log_spaced_spectrum<double>(30, 100.0, 0.5);
  ConjugateGradient<Vec> linear;
  Vec v = Vec::Zero(30);
  const auto solved = linear.solve(multiplied_by(spectrum), random_vector(30, 3), v,
                                   {.tolerance = 1e-12, .keeps_spectrum = true}, true);
  ASSERT_EQ(solved.status, LinearStatus::converged);
  EXPECT_NEAR(linear.curvatures_met().smallest, spectrum.minCoeff(), 1e-6 * spectrum.minCoeff());
  EXPECT_NEAR(linear.curvatures_met().largest, spectrum.maxCoeff(), 1e-6 * spectrum.maxCoeff());
}

TEST(ConjugateGradients, GoOnFromAStartThatIsNotZero) {
  const Vec spectrum = log_spaced_spectrum<double>(30, 100.0, 1.0);
  const Vec right = random_vector(30, 4);
  Vec v = right.cwiseQuotient(spectrum);
  v[3] += 1.0;
  const auto solved = ConjugateGradient<Vec>().solve(multiplied_by(spectrum), right, v, {.tolerance = 1e-10});
  EXPECT_EQ(solved.status, LinearStatus::converged);
  EXPECT_EQ(solved.steps, 1) << "what is missing is one eigenvector";
  EXPECT_LE(relative_error(v, right.cwiseQuotient(spectrum)), 1e-10);
}

} // namespace
} // namespace duplex::testing
