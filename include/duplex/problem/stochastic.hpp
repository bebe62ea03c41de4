#pragma once
// Problems that draw a sample at every step: a mini-batch, or a set of tasks. The problem itself stays constant, so
// that several threads may use it; the sample and the generator's state belong to a run, in Drawn<P>, which to solvers
// is a problem like any other.
//
//   struct MyProblem {
//     using Vector = Eigen::VectorXd;
//     using Draw = std::vector<std::size_t>;                          // the sample in hand
//     void draw(std::mt19937_64 &generator, Draw &rows) const;        // the next one, into the same memory
//     Lower lower(const Draw &rows) const;                            // evaluations that read it at each at(x, y)
//     Upper upper(const Draw &rows) const;
//     ...
//   };

#include <duplex/problem/problem.hpp>
#include <duplex/space/archive.hpp>

#include <concepts>
#include <cstdint>
#include <random>

namespace duplex {

/// A problem whose evaluations borrow a sample. All randomness comes from the generator that draw() is given. Where it
/// also offers lower() and upper() without a sample, they are the whole problem, which draws estimate.
template <class P>
concept StochasticProblem = VectorSpace<VectorOf<P>> && std::default_initializable<typename P::Draw> &&
    requires(const P &problem, std::mt19937_64 &generator, typename P::Draw &draw, const typename P::Draw &drawn) {
  problem.draw(generator, draw);
  problem.lower(drawn);
  problem.upper(drawn);
  { problem.x_size() } -> std::convertible_to<Index>;
  { problem.y_size() } -> std::convertible_to<Index>;
};

/// A problem that is the same at every step.
template <class P>
concept DeterministicProblem = SecondOrderProblem<P> && !StochasticProblem<P>;

/// A stochastic problem with the sample in hand: one run's own. It stays where it is, since evaluations borrow the
/// sample, and draws into the same memory, so that steps which were recorded as launches see the new sample.
template <StochasticProblem P> class Drawn {
public:
  using Vector = VectorOf<P>;

  /// Draws the first sample.
  Drawn(const P &problem, std::uint64_t seed) : problem_(&problem), generator_(seed) { next(); }
  Drawn(const Drawn &) = delete;
  Drawn &operator=(const Drawn &) = delete;
  Drawn(Drawn &&) = delete;
  Drawn &operator=(Drawn &&) = delete;
  ~Drawn() = default;

  /// Draws another sample. What evaluations keep of a point is then of the sample before, until they are moved.
  void next() { problem_->draw(generator_, draw_); }
  [[nodiscard]] const typename P::Draw &draw() const { return draw_; }
  /// Where the generator stands, and the draw where it remembers more than the sample in hand, which is of the step
  /// that is over.
  template <class Archive> void archive(Archive &members) {
    members("generator", generator_);
    if constexpr (requires { draw_.archive(members); }) {
      members("draw", draw_);
    }
  }

  [[nodiscard]] auto lower() const { return problem_->lower(draw_); }
  [[nodiscard]] auto upper() const { return problem_->upper(draw_); }

  /// Whether a method may ask for no sample again; else it is drawn in batches (finite_sum.hpp), of which it may ask
  /// for any one, and for the whole.
  static constexpr bool forgets_samples = !requires(const P &problem, const typename P::Draw &draw) {
    problem.batches(draw);
  };
  [[nodiscard]] const auto &batches() const requires(!forgets_samples) { return problem_->batches(draw_); }
  [[nodiscard]] auto lower_batch(Index number) const requires(!forgets_samples) {
    return problem_->lower_batch(number);
  }
  [[nodiscard]] auto upper_batch(Index number) const requires(!forgets_samples) {
    return problem_->upper_batch(number);
  }
  template <class B> [[nodiscard]] auto lower(const B &batch) const requires(!forgets_samples) {
    return problem_->lower(batch);
  }
  template <class B> [[nodiscard]] auto upper(const B &batch) const requires(!forgets_samples) {
    return problem_->upper(batch);
  }
  [[nodiscard]] auto whole_lower() const requires(!forgets_samples) { return problem_->lower(); }
  [[nodiscard]] auto whole_upper() const requires(!forgets_samples) { return problem_->upper(); }

  [[nodiscard]] Index x_size() const { return problem_->x_size(); }
  [[nodiscard]] Index y_size() const { return problem_->y_size(); }
  [[nodiscard]] Box<Vector> box() const { return box_of(*problem_); }
  [[nodiscard]] bool offers_aggregation() const requires requires(const P &problem) { problem.offers_aggregation(); }
  { return problem_->offers_aggregation(); }

  [[nodiscard]] State<Vector> start() const requires requires(const P &problem) { problem.start(); }
  { return problem_->start(); }
  void check_start(const State<Vector> &state) const requires requires(const P &problem) { problem.check_start(state); }
  { problem_->check_start(state); }

private:
  const P *problem_;
  std::mt19937_64 generator_;
  typename P::Draw draw_;
};

/// Where the samples of a run come from.
class SampleSource {
public:
  SampleSource() = default;
  SampleSource(const SampleSource &) = delete;
  SampleSource &operator=(const SampleSource &) = delete;
  virtual ~SampleSource() = default;

  /// Draws another sample, between steps.
  virtual void next() = 0;
  virtual void archive(StateWriter &members) = 0;
  virtual void archive(StateReader &members) = 0;
};

template <StochasticProblem P> class SampleSourceOf final : public SampleSource {
public:
  explicit SampleSourceOf(Drawn<P> &drawn) : drawn_(&drawn) {}
  void next() override { drawn_->next(); }
  void archive(StateWriter &members) override { drawn_->archive(members); }
  void archive(StateReader &members) override { drawn_->archive(members); }

private:
  Drawn<P> *drawn_;
};

} // namespace duplex
