#pragma once
// What a method knows of a piece of a direction, batch by batch (SAGA; Defazio, Bach and Lacoste-Julien, 2014): with
// a table t of what each batch said last and its mean, a batch i that now says u tells of the mean over all batches
//
//   u − t_i + mean(t),       and then t_i = u.
//
// What it tells is right in the mean, and its noise goes to zero where the point does not move any more.

#include <duplex/space/space.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace duplex {

template <VectorSpace V> class SampleMeans {
public:
  SampleMeans(Index batches, const V &like)
      : table_(static_cast<std::size_t>(batches), zeros_like(like)), mean_(zeros_like(like)) {}

  /// Fills the table: say(i, t_i) writes what batch i says.
  template <class Say> void fill(const Say &say) {
    set_zero(mean_);
    for (std::size_t i = 0; i < table_.size(); ++i) {
      say(static_cast<Index>(i), table_[i]);
      axpy(part(), table_[i], mean_);
    }
  }

  /// Of what the batch says now makes what that tells of the mean over all.
  void tell(Index batch, V &said) {
    V &last = table_[static_cast<std::size_t>(batch)];
    std::swap(said, last);
    scale(-1.0, said);
    axpy(1.0, last, said); // u − t_i
    axpy(1.0, mean_, said);
    scale(1.0 - part(), mean_); // mean + (u − t_i) / batches
    axpy(part(), said, mean_);
  }

  template <class Archive> void archive(Archive &members) {
    members("table", table_);
    members("mean", mean_);
  }

private:
  [[nodiscard]] double part() const { return 1.0 / static_cast<double>(table_.size()); }

  std::vector<V> table_;
  V mean_;
};

} // namespace duplex
