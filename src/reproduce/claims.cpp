// What runs say of themselves, checked in quadruple precision on problems on which they are likely to be wrong. A run
// may say that it could not be verified; it may not say that it succeeded where it did not.

#include "report/table.hpp"
#include "reproduce/checked_claims.hpp"
#include "reproduce/reproduce.hpp"

#include <fmt/format.h>

#include <array>
#include <random>

namespace duplex::reproduce {

Experiment claims(const Settings &settings) {
  Experiment result{.name = "claims",
                    .title = std::string(title_of("claims")),
                    .options = {{"problems of each family", settings.claim_problems}},
                    .seed = settings.seed,
                    .reference = "target"};
  report::Table table({"family", "runs", "claim success", "falsely", "largest ratio over tolerance"});
  report::Table wrongs({"false", "tolerance", "in truth", "what it said"});
  std::int64_t all_false = 0;
  bool all_say_something = true;
  std::mt19937_64 seeds(settings.seed);
  for (const auto family :
       {ClaimFamily::singular, ClaimFamily::nearly_singular, ClaimFamily::scaled, ClaimFamily::relative_kkt}) {
    std::int64_t runs = 0;
    std::int64_t claimed = 0;
    std::int64_t falsely = 0;
    double largest = 0.0;
    for (std::int64_t i = 0; i < settings.claim_problems && !settings.interrupted(); ++i) {
      const auto claim = check_claim(family, seeds());
      ++runs;
      claimed += claim.claimed ? 1 : 0;
      falsely += claim.is_false() ? 1 : 0;
      largest = claim.claimed ? std::max(largest, claim.ratio / claim.tolerance) : largest;
      if (claim.is_false()) {
        wrongs.add({claim.problem, short_number(claim.tolerance), short_number(claim.ratio), claim.said});
      }
    }
    all_false += falsely;
    constexpr std::int64_t share_that_must_claim = 5; // one of five: otherwise nothing would be shown
    all_say_something = all_say_something && share_that_must_claim * claimed >= runs;
    table.add({std::string(title_of(family)), std::to_string(runs), std::to_string(claimed), std::to_string(falsely),
               short_number(largest)});
  }
  result.interrupted = settings.interrupted();
  result.tables.push_back(table.text());
  if (all_false > 0) {
    result.tables.push_back(wrongs.text());
  }
  result.claim("claims.true", "no run claims success that quadruple precision denies", "none",
               std::to_string(all_false), all_false == 0);
  result.claim("claims.said", "in every family at least a fifth of the runs claims success", "at least a fifth",
               all_say_something ? "more" : "less", all_say_something);
  return result;
}

} // namespace duplex::reproduce
