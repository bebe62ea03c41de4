#pragma once
// What a method knows of a piece of a direction, batch by batch (SAGA; Defazio, Bach and Lacoste-Julien, 2014): with
// a table t of what each batch said last and its mean, a batch i that now says u tells of the mean over all batches
//
//   u − t_i + mean(t),       and then t_i = u.
//
// What it tells is right in the mean over batches that are drawn independently, and its noise goes to zero where the
// point does not move any more.

#include <duplex/space/space.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace duplex {

/// said ← said − last + mean, last ← said, and the mean of the table follows. Another backend may overload it for its
/// own vectors.
template <VectorSpace V>
requires(!EigenVector<V>) void tell_of_mean(double part, V &last, V &mean, V &said) {
  std::swap(said, last);
  scale(-1.0, said);
  axpy(1.0, last, said);
  axpy(1.0, mean, said);
  scale(1.0 - part, mean); // mean + part · (said − last)
  axpy(part, said, mean);
}

/// In pieces that stay in the first cache.
template <EigenVector V> void tell_of_mean(double part, V &last, V &mean, V &said) {
  constexpr Index piece = 1024;
  const auto factor = static_cast<typename V::Scalar>(part);
  for (Index first = 0; first < said.size(); first += piece) {
    const Index count = std::min(piece, said.size() - first);
    auto now = said.segment(first, count);
    auto before = last.segment(first, count);
    auto of_all = mean.segment(first, count);
    before = now - before;             // u − t_i
    now.swap(before);                  // which holds u from here on
    now += of_all;                     // u − t_i + mean
    of_all += factor * (now - of_all); // mean + part · (u − t_i)
  }
}

template <VectorSpace V> class SampleMeans {
public:
  SampleMeans(Index batches, const V &like)
      : batches_(static_cast<std::size_t>(batches)), table_(batches_, zeros_like(like)), mean_(zeros_like(like)) {}

  /// What the batch has said, to be written before take_mean().
  [[nodiscard]] V &of(Index batch) { return table_[static_cast<std::size_t>(batch)]; }
  /// The mean of the table, anew.
  void take_mean() {
    set_zero(mean_);
    for (const V &said : table_) {
      axpy(part(), said, mean_);
    }
    tells_ = 0;
  }

  /// Lets the table go where all batches have said zero, until one says something else.
  void forget_zeros() {
    const bool all_zero = std::all_of(table_.begin(), table_.end(), [](const V &said) { return norm(said) == 0.0; });
    if (all_zero) {
      table_ = {};
    }
  }

  /// Of what the batch says now makes what that tells of the mean over all.
  void tell(Index batch, V &said) {
    if (table_.empty()) {
      if (norm(said) == 0.0) {
        return;
      }
      table_.assign(batches_, zeros_like(mean_));
    }
    tell_of_mean(part(), of(batch), mean_, said);
    if (++tells_ >= most_passes * static_cast<std::int64_t>(batches_)) { // else its rounding would add up
      take_mean();
    }
  }

  template <class Archive> void archive(Archive &members) {
    members.resized("table", table_, batches_, [this] { return zeros_like(mean_); });
    members("mean", mean_);
    members("tells", tells_);
  }

private:
  static constexpr std::int64_t most_passes = 20; ///< over the batches, between two means that are taken anew

  [[nodiscard]] double part() const { return 1.0 / static_cast<double>(batches_); }

  std::size_t batches_;
  std::int64_t tells_ = 0; ///< since the mean was taken
  std::vector<V> table_;
  V mean_;
};

} // namespace duplex
