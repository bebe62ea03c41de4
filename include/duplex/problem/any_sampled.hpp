#pragma once
// A finite sum whose type is forgotten, drawn in batches: what the command line holds. A run draws for itself, and sees
// the batches in hand as a problem whose type is forgotten, so that no method is compiled for it once more.

#include <duplex/problem/any_problem.hpp>
#include <duplex/problem/finite_sum.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

namespace duplex {

template <VectorSpace V> class AnySampledProblem {
public:
  using Vector = V;

  /// The batches of one run.
  struct Drawing {
    AnyProblem<V> in_hand;
    std::shared_ptr<SampleSource> source; ///< draws others
  };

  /// Throws InvalidInput where a batch is larger than its level.
  template <FiniteSumProblem P>
  requires StartedProblem<P> AnySampledProblem(const P &problem, BatchSizes sizes) : whole_(problem) {
    auto shared = std::make_shared<const P>(problem);
    (void)InBatches<P>(*shared, sizes);
    begin_ = [shared, sizes](std::uint64_t seed) {
      auto drawing = std::make_shared<Owned<P>>(shared, sizes, seed);
      return Drawing{AnyProblem<V>(InHand<P>(drawing)), std::shared_ptr<SampleSource>(drawing, &drawing->source)};
    };
  }

  [[nodiscard]] const AnyProblem<V> &whole() const { return whole_; }
  [[nodiscard]] Drawing begin(std::uint64_t seed) const { return begin_(seed); }

private:
  template <class P> struct Owned {
    Owned(std::shared_ptr<const P> whole, BatchSizes sizes, std::uint64_t seed)
        : problem(std::move(whole)), batches(*problem, sizes), drawn(batches, seed), source(drawn) {}

    std::shared_ptr<const P> problem;
    InBatches<P> batches;
    Drawn<InBatches<P>> drawn;
    SampleSourceOf<InBatches<P>> source;
  };

  /// A problem that may be copied, of which every copy is the same run's.
  template <class P> class InHand {
  public:
    using Vector = V;

    explicit InHand(std::shared_ptr<const Owned<P>> drawing) : drawing_(std::move(drawing)) {}

    [[nodiscard]] auto lower() const { return drawn().lower(); }
    [[nodiscard]] auto upper() const { return drawn().upper(); }
    [[nodiscard]] Batches batches() const { return drawn().batches(); }
    [[nodiscard]] Batch lower_batch(Index number) const { return drawn().lower_batch(number); }
    [[nodiscard]] Batch upper_batch(Index number) const { return drawn().upper_batch(number); }
    [[nodiscard]] auto lower(const Batch &batch) const { return drawn().lower(batch); }
    [[nodiscard]] auto upper(const Batch &batch) const { return drawn().upper(batch); }
    [[nodiscard]] auto whole_lower() const { return drawn().whole_lower(); }
    [[nodiscard]] auto whole_upper() const { return drawn().whole_upper(); }
    [[nodiscard]] Index x_size() const { return drawn().x_size(); }
    [[nodiscard]] Index y_size() const { return drawn().y_size(); }
    [[nodiscard]] Box<V> box() const { return drawn().box(); }
    [[nodiscard]] bool offers_aggregation() const { return duplex::offers_aggregation(drawn()); }
    [[nodiscard]] double upper_scale() const { return duplex::upper_scale(*drawing_->problem); }
    [[nodiscard]] State<V> start() const { return drawing_->problem->start(); }

  private:
    [[nodiscard]] const Drawn<InBatches<P>> &drawn() const { return drawing_->drawn; }

    std::shared_ptr<const Owned<P>> drawing_;
  };

  AnyProblem<V> whole_;
  std::function<Drawing(std::uint64_t)> begin_;
};

} // namespace duplex
