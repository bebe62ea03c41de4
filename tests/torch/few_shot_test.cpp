// Few-shot learning: tasks, heads, features, and that a tiny setting learns.

#include "torch_support.hpp"

#include "checkpoint/checkpoint.hpp"
#include "fewshot/torch/backbone.hpp"
#include "fewshot/torch/learner.hpp"
#include "fewshot/torch/tester.hpp"

#include <duplex/space/archive.hpp>

#include <duplex/methods/bagdc.hpp>

#include <limits>

#include <set>

namespace duplex::testing {
namespace {

using namespace duplex::fewshot;

TEST(TaskSampler, RefusesTasksThatItsClassesOrImagesDoNotAllow) {
  const auto make = [](TaskShape shape) { return refusal([=] { TaskSampler(shape, {1, 2, 3}, 10, 0); }); };
  EXPECT_CONTAINS(make({.ways = 4}), "ways = 4, expected 2 to 3");
  EXPECT_CONTAINS(make({.ways = 3, .shots = 0}), "shots = 0, expected 1 to 9");
  EXPECT_CONTAINS(make({.ways = 3, .shots = 1, .queries = 10}), "queries = 10, expected 1 to 9");
}

TEST(TaskSampler, DrawsEveryImageOfATaskOnceAndFromItsWay) {
  const TaskShape shape{.ways = 3, .shots = 2, .queries = 4};
  TaskSampler sampler(shape, {4, 5, 6, 7}, 10, 1);
  constexpr std::int64_t tasks = 5;
  const auto batch = sampler.draw(tasks);
  for (std::int64_t task = 0; task < tasks; ++task) {
    std::set<std::int64_t> seen;
    std::vector<std::int64_t> class_of_way(3, -1);
    const auto look = [&](const std::vector<std::int64_t> &numbers, std::int64_t samples) {
      for (std::int64_t k = 0; k < samples; ++k) {
        const auto image = numbers[static_cast<std::size_t>(k * tasks + task)];
        EXPECT_TRUE(seen.insert(image).second);
        auto &own = class_of_way[static_cast<std::size_t>(k % shape.ways)];
        EXPECT_TRUE(own == -1 || own == image / 10);
        own = image / 10;
      }
    };
    look(batch.shots, shape.shot_samples());
    look(batch.queries, shape.query_samples());
    EXPECT_EQ(std::set(class_of_way.begin(), class_of_way.end()).size(), 3U);
  }
}

Heads some_heads(std::int64_t tasks) {
  std::mt19937_64 generator(2);
  Tensors features({at::empty({tasks, 4, 3}, at::kDouble), at::empty({tasks, 6, 3}, at::kDouble)});
  fill_normal(generator, features);
  const auto wanted = [&](std::int64_t samples) {
    return at::one_hot(at::arange(samples).remainder(2), 2).to(at::kDouble).unsqueeze(0).repeat({tasks, 1, 1});
  };
  return {features, wanted(4), wanted(6)};
}

TEST(FewShotHeads, PassTheirDerivativeCheck) {
  const auto heads = some_heads(2);
  const auto report = check(heads);
  for (const auto &row : report.rows) {
    if (row.quantity != "hypergradient") { // without a penalty the heads' Hessian is singular
      EXPECT_TRUE(row.passes) << report.table();
    }
  }
}

TEST(FewShotHeads, OfSeveralTasksMoveAsEachAlone) {
  const auto heads = some_heads(3);
  auto state = heads.start();
  (void)run_steps(heads, Bagdc{.alpha = 1e-300, .beta = 0.3, .eta = 0.2, .dual = DualStep::constant}, state, 8);
  const auto all = heads.start();
  for (std::int64_t task = 0; task < 3; ++task) {
    const auto part = [&](const at::Tensor &t) { return t.narrow(0, task, 1).clone(); };
    const auto wanted = at::one_hot(at::arange(6).remainder(2), 2).to(at::kDouble).unsqueeze(0);
    const Heads one(Tensors({part(all.x[0]), part(all.x[1])}), wanted.narrow(1, 0, 4).contiguous(), wanted);
    auto alone = one.start();
    (void)run_steps(one, Bagdc{.alpha = 1e-300, .beta = 0.3, .eta = 0.2, .dual = DualStep::constant}, alone, 8);
    EXPECT_LE(relative_error(entries_of(Tensors({part(state.y[0]), part(state.y[1])})), entries_of(alone.y)), 1e-12);
  }
}

TEST(FewShotFeatures, OfATaskDoNotDependOnTheOthers) {
  const auto backbone = fresh_backbone(1, at::kCPU, at::kDouble);
  at::manual_seed(1);
  const auto pixels = at::rand({3 * 2, 1, 64, 64}, at::kDouble); // three samples of two tasks
  const auto both = features_of(backbone.list(), pixels, 2);
  const auto second = features_of(backbone.list(), pixels.view({3, 2, 1, 64, 64}).select(1, 1).contiguous(), 1);
  EXPECT_EQ(both.sizes().vec(), (std::vector<std::int64_t>{2, 3, fewshot::feature_count}));
  EXPECT_LE((both[1] - second[0]).abs().max().item<double>(), 1e-10);
}

TEST(FewShotFeatures, AreOfTheSameParametersWhereTheseLieInOneTensor) {
  const auto backbone = fresh_backbone(1, at::kCPU);
  const auto views = unflattened(flattened(backbone));
  ASSERT_EQ(views.size(), backbone.count());
  for (std::size_t i = 0; i < views.size(); ++i) {
    EXPECT_TRUE(views[i].equal(backbone[i])) << i;
  }
}

/// Ten classes: a bright square at a place of its own, on noise.
at::Tensor squares(std::int64_t images_per_class) {
  at::manual_seed(2);
  auto images = at::randint(0, 120, {10 * images_per_class, 64, 64}, at::kByte);
  for (std::int64_t c = 0; c < 10; ++c) {
    const auto of_class = images.narrow(0, c * images_per_class, images_per_class);
    of_class.narrow(1, 4 + 6 * (c % 5), 14).narrow(2, 4 + 30 * (c / 5), 14).fill_(230);
  }
  return images.view({-1, 64 * 64});
}

Learner tiny_learner(const fewshot::Settings &more, at::ScalarType type = at::kFloat,
                     const at::Device &device = at::kCPU) {
  fewshot::Settings settings = more;
  settings.shape = {.ways = 3, .shots = 1, .queries = 3};
  settings.head_steps = 5;
  settings.meta_batch = type == at::kDouble ? 2 : 4; // convolutions are slow in double
  settings.images_per_class = 12;
  return Learner(settings, squares(12).to(device), fresh_backbone(3, device, type),
                 TaskSampler(settings.shape, {0, 1, 2, 3, 4, 5}, 12, 4));
}

double tiny_accuracy(Learner &learner) {
  Tester tester(learner.settings(), squares(12), learner.state().x);
  return tester.evaluate(TaskSampler({.ways = 3, .shots = 1, .queries = 3}, {6, 7, 8, 9}, 12, 5), 20)->accuracy;
}

TEST(FewShotLearner, LearnsATinySettingInAFewSteps) {
  for (const auto &settings : std::initializer_list<fewshot::Settings>{
           {.solver = "bagdc"}, {.solver = "rhg"}, {.solver = "bagdc", .pool = 8}, {.solver = "cg"}}) {
    auto learner = tiny_learner(settings);
    const double before = tiny_accuracy(learner);
    EXPECT_EQ(learn(learner, {.max_iterations = 12}).iterations, 12);
    EXPECT_GT(tiny_accuracy(learner), std::max(0.8, before)) << settings.solver << ", before: " << before;
  }
}

class FewShotDirection : public ::testing::TestWithParam<std::string> {};

TEST_P(FewShotDirection, IsTheSameWithKeptAndWithRecomputedFeatures) {
  auto kept = tiny_learner({.solver = GetParam()}, at::kDouble);
  auto recomputed = tiny_learner({.solver = GetParam(), .features = fewshot::Features::recomputed}, at::kDouble);
  ASSERT_FALSE(learn(kept, {.max_iterations = 1}).failed());
  ASSERT_FALSE(learn(recomputed, {.max_iterations = 1}).failed());
  EXPECT_LE(relative_error(entries_of(kept.direction()), entries_of(recomputed.direction())), 1e-9);
}

INSTANTIATE_TEST_SUITE_P(EverySolver, FewShotDirection, ::testing::Values("bagdc", "nosa", "rhg", "bda", "cg", "ns"));

TEST(FewShotLearner, RefusesAMethodThatMovesXItself) {
  EXPECT_CONTAINS(refusal([] { (void)tiny_learner({.solver = "automatic"}); }), "automatic: it moves x itself");
}

TEST(FewShotLearner, IsMovedByTheEnginesAdam) {
  auto learner = tiny_learner({.alpha = 0.01}, at::kDouble);
  Tensors x = learner.state().x;
  UpperUpdate<Tensors> adam({.method = UpperMethod::adam}, x);
  auto beside = tiny_learner({.alpha = 0.01}, at::kDouble);
  for (int k = 1; k <= 3; ++k) {
    assign(x, beside.state().x);
    ASSERT_EQ(beside.step(), "");
    EXPECT_EQ(entries_of(beside.state().x), entries_of(x)) << "a step moved the backbone itself";
    adam.apply(0.01, beside.direction(), x);
  }
  ASSERT_FALSE(learn(learner, {.max_iterations = 3}).failed());
  EXPECT_EQ(entries_of(learner.state().x), entries_of(x));
}

TEST(FewShotLearner, EndsAtTheStepWhoseHeadsAreNotFinite) {
  auto learner = tiny_learner({.solver = "bagdc:eta=1e30"});
  const auto summary = learn(learner, {.max_iterations = 3});
  EXPECT_EQ(summary.termination, Termination::diverged);
  EXPECT_EQ(summary.iterations, 1);
  EXPECT_TRUE(all_finite(learner.state().x)) << "x stays where d is not finite";
}

SavedState saved_after(std::int64_t steps, const fewshot::Settings &settings) {
  SavedState last;
  const Saving saving{.save = [&](const SavedState &state) { last = state; }, .every_seconds = infinity};
  auto learner = tiny_learner(settings);
  EXPECT_FALSE(learn(learner, {.max_iterations = steps, .saving = &saving}).failed());
  return last;
}

TEST(FewShotLearner, EndsWithTheReasonWhereItsSolverCannotDoAStep) {
  SavedState state = saved_after(1, {.solver = "cg"});
  auto learner = tiny_learner({.solver = "cg"});
  state.put("x", SavedState::Floats(static_cast<std::size_t>(size(learner.state().x)), 1e30F));
  const Saving from{.from = &state};
  const auto summary = learn(learner, {.max_iterations = 3, .saving = &from});
  EXPECT_EQ(summary.termination, Termination::step_failed);
  EXPECT_EQ(summary.iterations, 2);
  EXPECT_CONTAINS(summary.message, "lower level: ");
  EXPECT_CONTAINS(summary.message, "step 2");
}

TEST(FewShotLearner, GoesOnAcrossTheTasksThatWereDrawnAhead) {
  const TaskShape shape{.ways = 2, .shots = 1, .queries = 1};
  const auto numbers = [](std::int64_t count) { return at::zeros({count}, at::kLong); };
  TaskQueue whole(TaskSampler(shape, {0, 1, 2}, 9, 3), 2, at::kCPU);
  for (const int taken : {0, 49, 50, 51, 73}) {
    TaskQueue first(TaskSampler(shape, {0, 1, 2}, 9, 3), 2, at::kCPU);
    auto shots = numbers(4);
    auto queries = numbers(4);
    for (int k = 0; k < taken; ++k) {
      first.next(shots, queries);
    }
    SavedState state;
    StateWriter writer(state);
    first.archive(writer);
    TaskQueue second(TaskSampler(shape, {0, 1, 2}, 9, 17), 2, at::kCPU);
    StateReader reader(state);
    second.archive(reader);
    second.go_on();
    auto other_shots = numbers(4);
    auto other_queries = numbers(4);
    for (int k = 0; k < 60; ++k) {
      first.next(shots, queries);
      second.next(other_shots, other_queries);
      EXPECT_TRUE(shots.equal(other_shots) && queries.equal(other_queries)) << taken << ", " << k;
    }
  }
  SavedState wrong;
  StateWriter writer(wrong);
  whole.archive(writer);
  wrong.put("used", SavedState::Integers{51});
  StateReader reader(wrong);
  whole.archive(reader);
  EXPECT_CONTAINS(refusal([&] { whole.go_on(); }), "has used 51 of 50 batches");
}

TEST(FewShotLearner, GoesOnFromACheckpointBitByBit) {
  for (const std::int64_t pool : {0, 8}) {
    auto whole = tiny_learner({.pool = pool});
    ASSERT_FALSE(learn(whole, {.max_iterations = 8}).failed());
    const auto state = checkpoint::decoded(checkpoint::encoded(saved_after(5, {.pool = pool})), "memory");
    auto second = tiny_learner({.pool = pool});
    const Saving from{.from = &state};
    EXPECT_EQ(learn(second, {.max_iterations = 8, .saving = &from}).iterations, 8);
    EXPECT_EQ(entries_of(whole.state().x), entries_of(second.state().x)) << "pool of " << pool;
  }
}

TEST(FewShotLearner, RefusesACheckpointWhoseTasksCannotBe) {
  const auto refused = [](const char *entry, SavedState::Value value) {
    SavedState state = saved_after(1, {.pool = 8});
    EXPECT_TRUE(state.has(entry)) << entry;
    state.put(entry, std::move(value));
    const Saving from{.from = &state};
    auto learner = tiny_learner({.pool = 8});
    return refusal([&] { (void)learn(learner, {.max_iterations = 2, .saving = &from}); });
  };
  EXPECT_CONTAINS(refused("run.tasks.used", SavedState::Integers{51}), "has used 51 of 50 batches");
  EXPECT_CONTAINS(refused("run.pool.next", SavedState::Integers{8}), "tasks of images that there are not");
  EXPECT_CONTAINS(refused("x", SavedState::Floats(3)), "'x'");
}

TEST(FewShotLearnerOnDevice, LearnsTheSameCapturedAndPlain) {
  if (!at::hasCUDA()) {
    std::cout << "skipped: no CUDA device\n";
    return;
  }
  const auto device = device_named("cuda");
  constexpr int steps = 12;
  for (const std::int64_t pool : {0, 8}) {
    for (const auto features : {fewshot::Features::kept, fewshot::Features::recomputed}) {
      const auto learned = [&](const at::Device &where, Capture graph) {
        auto learner = tiny_learner({.pool = pool, .features = features, .graph = graph}, at::kDouble, where);
        learner.prepare();
        EXPECT_EQ(learn(learner, {.max_iterations = steps}).iterations, steps);
        EXPECT_EQ(learner.replays(), graph == Capture::on);
        EXPECT_EQ(learner.runs_ahead(), where.is_cuda());
        return entries_of(learner.state().x);
      };
      const auto plain = learned(device, Capture::off);
      EXPECT_LE(relative_error(learned(device, Capture::on), plain), 1e-8) << "pool of " << pool;
      EXPECT_LE(relative_error(learned(at::kCPU, Capture::off), plain), 1e-6) << "pool of " << pool;
    }
  }
}

TEST(FewShotLearnerOnDevice, NamesTheStepThatBrokeAmongThoseThatWereDoneAhead) {
  if (!at::hasCUDA()) {
    std::cout << "skipped: no CUDA device\n";
    return;
  }
  for (const auto graph : {Capture::on, Capture::off}) {
    const fewshot::Settings wild{.solver = "bagdc:eta=100", .pool = 8, .graph = graph}; // v grows from visit to visit
    auto ahead = tiny_learner(wild, at::kFloat, device_named("cuda"));
    ahead.prepare();
    auto beside = tiny_learner(wild, at::kFloat, device_named("cuda"));
    beside.stop_running_ahead();
    const auto expected = learn(beside, {.max_iterations = 200});
    const auto summary = learn(ahead, {.max_iterations = 200});
    EXPECT_EQ(expected.termination, Termination::diverged);
    EXPECT_GT(expected.iterations, 2);
    EXPECT_EQ(summary.termination, Termination::diverged);
    EXPECT_EQ(summary.iterations, expected.iterations);
  }
}

} // namespace
} // namespace duplex::testing
