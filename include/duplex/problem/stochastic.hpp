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
  /// Where the generator stands; the sample in hand is of the step that is over.
  template <class Archive> void archive(Archive &members) { members("generator", generator_); }

  [[nodiscard]] auto lower() const { return problem_->lower(draw_); }
  [[nodiscard]] auto upper() const { return problem_->upper(draw_); }
  [[nodiscard]] Index x_size() const { return problem_->x_size(); }
  [[nodiscard]] Index y_size() const { return problem_->y_size(); }
  [[nodiscard]] Box<Vector> box() const { return box_of(*problem_); }

  [[nodiscard]] State<Vector> start() const requires requires(const P &problem) { problem.start(); }
  { return problem_->start(); }
  void check_start(const State<Vector> &state) const requires requires(const P &problem) { problem.check_start(state); }
  { problem_->check_start(state); }

private:
  const P *problem_;
  std::mt19937_64 generator_;
  typename P::Draw draw_;
};

} // namespace duplex
