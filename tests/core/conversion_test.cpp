// What is read back may be anything: numbers that a program cannot go on with are refused by the name of their entry.

#include "support.hpp"

#include "saved_run.hpp"

#include <duplex/core/conversion.hpp>
#include <duplex/problems/quadratic.hpp>

#include <limits>

namespace duplex::testing {
namespace {

TEST(WholeNumber, RefusesWhatIsNoneOrOutOfRange) {
  for (const double wrong : {not_a_number, infinity, -infinity, 0.5, -1.0, 1e300, -1e300, 11.0, 1e19}) {
    EXPECT_EQ(refusal([&] { (void)whole_number(wrong, 0, 10, "it"); }),
              "it is " + number_text(wrong) + ", expected a whole number from 0 to 10");
  }
  EXPECT_EQ(whole_number(10.0, 0, 10, "it"), 10);
  EXPECT_EQ(whole_number(-0.0, 0, 10, "it"), 0);
  EXPECT_EQ(whole_number(static_cast<double>(most_in_double), 0, most_in_double, "it"), most_in_double);
}

TEST(Enumerator, RefusesNumbersWithoutAName) {
  for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{14}, std::int64_t{256}}) {
    EXPECT_EQ(refusal([&] { (void)enumerator<Termination>(wrong, "it"); }),
              "it is " + std::to_string(wrong) + ", expected a whole number from 0 to 13");
  }
  EXPECT_EQ(enumerator<Termination>(13, "it"), Termination::step_failed);
}

struct Numbers {
  bool flag = false;
  std::int64_t steps = 3;
  int tries = 2;
  std::uint8_t byte = 255;
  std::uint64_t bits = ~std::uint64_t{0};
  float small = 0.5F;

  template <class Archive> void archive(Archive &members) {
    members("flag", flag);
    members("steps", steps);
    members("tries", tries);
    members("byte", byte);
    members("bits", bits);
    members("small", small);
  }
};

SavedState written_numbers(Numbers numbers) {
  SavedState state;
  StateWriter members(state);
  numbers.archive(members);
  return state;
}

std::string refused(const std::string &entry, SavedState::Value value) {
  SavedState state = written_numbers({});
  state.put(entry, std::move(value));
  return refusal([&] {
    Numbers numbers;
    StateReader members(state);
    numbers.archive(members);
  });
}

TEST(SavedMembers, RefuseWhatTheirTypeDoesNotHold) {
  EXPECT_EQ(refused("flag", SavedState::Integers{2}),
            "'flag' of the saved state is 2, expected a whole number from 0 to 1");
  EXPECT_CONTAINS(refused("byte", SavedState::Integers{256}), "'byte' of the saved state is 256, expected");
  EXPECT_CONTAINS(refused("byte", SavedState::Integers{-1}), "'byte' of the saved state is -1, expected");
  EXPECT_CONTAINS(refused("tries", SavedState::Integers{std::int64_t{1} << 32U}), "'tries'");
  EXPECT_CONTAINS(refused("small", SavedState::Doubles{1e300}), "'small' of the saved state is 1e+300");
  EXPECT_CONTAINS(refused("steps", SavedState::Doubles{1.0}), "expected whole numbers");
  EXPECT_CONTAINS(refused("steps", SavedState::Integers{}), "empty");
}

TEST(SavedMembers, RefuseCountsThatWouldOverflowWhenARunCountsOn) {
  for (const std::int64_t wrong : {std::int64_t{-1}, std::numeric_limits<std::int64_t>::max(),
                                   std::numeric_limits<std::int64_t>::min(), most_saved<std::int64_t> + 1}) {
    EXPECT_CONTAINS(refused("steps", SavedState::Integers{wrong}),
                    "'steps' of the saved state is " + std::to_string(wrong));
  }
  EXPECT_CONTAINS(refused("tries", SavedState::Integers{std::numeric_limits<int>::max()}), "'tries'");
}

TEST(SavedMembers, AreNotWrittenWhereTheyCouldNotBeRead) {
  EXPECT_CONTAINS(refusal([] { (void)written_numbers({.steps = -1}); }), "'steps' of the saved state is -1");
}

TEST(SavedMembers, ComeBackAsTheyWere) {
  const SavedState state = written_numbers({.flag = true, .steps = most_saved<std::int64_t>});
  Numbers back{.byte = 0, .bits = 0};
  StateReader members(state);
  back.archive(members);
  EXPECT_TRUE(back.flag);
  EXPECT_EQ(back.steps, most_saved<std::int64_t>);
  EXPECT_EQ(back.byte, 255);
  EXPECT_EQ(back.bits, ~std::uint64_t{0});
}

TEST(SavedGenerator, IsRefusedWhereItWouldDrawZerosForGood) {
  std::string zeros;
  for (std::size_t i = 0; i < std::mt19937_64::state_size; ++i) {
    zeros += "0 ";
  }
  for (const std::string &text : {std::string(), std::string("nonsense"), std::string("1 2 3"), zeros + "312"}) {
    SavedState state;
    state.put("generator", text);
    EXPECT_CONTAINS(refusal([&] {
                      std::mt19937_64 generator;
                      StateReader members(state);
                      members("generator", generator);
                    }),
                    "'generator' of the saved state is no generator");
  }
}

TEST(SavedTrace, IsRefusedWhereItsRowsCannotBe) {
  const auto refused_with = [](std::size_t place, double number) {
    std::vector<double> row{1.0, 0.5, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0};
    row[place] = number;
    return refusal([&] { Trace<Vec>().restore(row, 0); });
  };
  for (const double wrong : {not_a_number, infinity, 1e300, -5.0, 1.5}) {
    EXPECT_CONTAINS(refused_with(0, wrong), "an iteration in the trace of the saved state is " + number_text(wrong));
    EXPECT_CONTAINS(refused_with(7, wrong), "a count of recoveries");
    EXPECT_CONTAINS(refused_with(8, wrong), "the mark of an extra row");
  }
  EXPECT_EQ(refused_with(0, 1.0), "");
}

TEST(SavedTime, IsRefusedWhereNoRunTakesSoLong) {
  for (const double wrong : {not_a_number, infinity, -1.0, 1e10, 1e300}) {
    EXPECT_CONTAINS(refusal([&] { Stopwatch().credit(wrong); }),
                    "the time of the saved state is " + number_text(wrong));
  }
}

std::string refused_by_a_run(const Bagdc &solver, const std::string &entry, SavedState::Value value) {
  const auto problem = QuadraticSettings{.n = 3, .m = 4, .seed = 3}.make<double>();
  SavedState saved = saved_after(problem, solver, 5);
  EXPECT_TRUE(saved.has(entry)) << entry;
  saved.put(entry, std::move(value));
  const Saving saving{.from = &saved};
  auto state = problem.start();
  return refusal([&] { (void)solve(problem, solver, state, {.max_iterations = 20, .saving = &saving}); });
}

TEST(SavedRunWithARightChecksum, IsRefusedWhereItsCountsCannotBe) {
  EXPECT_CONTAINS(refused_by_a_run(with_given_steps, "iterations", SavedState::Integers{-7}), "'iterations'");
  EXPECT_CONTAINS(refused_by_a_run(with_given_steps, "counters.gradients",
                                   SavedState::Integers{std::numeric_limits<std::int64_t>::max()}),
                  "'counters.gradients'");
  EXPECT_CONTAINS(refused_by_a_run(with_given_steps, "seconds", SavedState::Doubles{not_a_number}), "nan");
  const Bagdc mixed{.alpha = 0.01, .beta = 0.1, .eta = 0.1, .dual = DualStep::constant, .mixing = 3};
  EXPECT_CONTAINS(refused_by_a_run(mixed, "run.y mover.mixing.known", SavedState::Integers{4}), "4 pairs are known");
  EXPECT_CONTAINS(refused_by_a_run(mixed, "run.multiplier.mover.mixing.next", SavedState::Integers{3}),
                  "3 is the next");
}

} // namespace
} // namespace duplex::testing
