// Problems refuse parts that do not fit each other.

#include "support.hpp"

#include <limits>

namespace duplex::testing {
namespace {

TEST(ProblemInput, RefusesPartsThatDoNotFit) {
  EXPECT_EQ(refusal([] { CounterExample(IdentityMatrix(3), Vec::Ones(2).eval()); }),
            "counter-example: z0 has 2 entries, A has 3 rows");
  EXPECT_CONTAINS(refusal([] { CounterExample(IdentityMatrix(2), Vec::Zero(2).eval()); }), "z0 must be finite and not");
  EXPECT_CONTAINS(
      refusal([] { CounterExample(IdentityMatrix(2), Vec::Ones(2).eval(), std::numeric_limits<double>::quiet_NaN()); }),
      "start = nan");
  EXPECT_CONTAINS(refusal([] { MultipleMinimizers<double>(0); }), "n = 0, expected at least 1");
  EXPECT_CONTAINS(refusal([] { (void)QuadraticSettings{.m = 3, .null_space = 4}.generate<double>(); }),
                  "null-space = 4, expected at most m = 3");
  auto data = QuadraticSettings{.n = 2, .m = 3}.generate<double>().data();
  data.lower_hessian(0, 1) += 1.0;
  EXPECT_CONTAINS(refusal([&] { Quadratic<double>{data}; }), "G and H must be symmetric");
  data.lower_hessian = Mat::Identity(2, 2);
  EXPECT_CONTAINS(refusal([&] { Quadratic<double>{data}; }), "C is 2 by 3");
  const Ridge<double>::Samples samples{Mat::Ones(4, 2), Vec::Ones(4)};
  EXPECT_CONTAINS(refusal([&] {
                    Ridge<double>(samples, {Mat::Ones(4, 3), Vec::Ones(4)}, 0.1);
                  }),
                  "validation has 3 features, training has 2");
  EXPECT_CONTAINS(refusal([&] {
                    Ridge<double>({Mat::Ones(4, 2), Vec::Ones(5)}, samples, 0.1);
                  }),
                  "training has 4 rows and 5 targets");
  EXPECT_CONTAINS(refusal([&] { Ridge<double>(samples, samples, -1.0); }), "rho = -1, expected >= 0");
}

} // namespace
} // namespace duplex::testing
