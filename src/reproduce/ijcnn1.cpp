// ijcnn1, the field's benchmark of penalties: logistic regression with one for each of 22 features, tuned without steps
// on held-out rows, from ten starts. Penalties are bounded, since ‖∇φ‖ vanishes also where they run away. What a run
// says is checked by Newton's method with LDLᵀ, which shares nothing with it.

#include "report/table.hpp"
#include "reproduce/ijcnn1_rows.hpp"
#include "reproduce/reproduce.hpp"

#include <duplex/solve.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace duplex::reproduce {

experiment::Experiment ijcnn1(const Settings &settings) {
  constexpr double tolerance = 1e-5;
  constexpr double wanted_loss = 0.1545;
  const auto problem = penalties_of_ijcnn1(read_ijcnn1(settings, "ijcnn1"));
  ExactPenalties exact(problem);
  Experiment result{.name = "ijcnn1",
                    .title = std::string(title_of("ijcnn1")),
                    .options = {{"file", settings.ijcnn1}, {"starts", settings.starts}},
                    .seed = settings.seed,
                    .reference = "target"};
  report::Table table({"start", "claims", "h", "‖∇h‖/‖∇h₀‖", "steps", "products", "seconds"});
  int verified = 0;
  int falsely = 0;
  double best = std::numeric_limits<double>::infinity();
  double worst = 0.0;
  for (std::int64_t k = 0; k < settings.starts; ++k) {
    const auto start = start_on_ijcnn1(problem.x_size(), settings.seed + static_cast<std::uint64_t>(k));
    auto state = start;
    const auto summary = solve(problem, state, {.interrupt = settings.interrupt});
    result.interrupted = settings.interrupted();
    if (result.interrupted) {
      return result;
    }
    const auto first = exact.at(start.x);
    const auto last = exact.at(state.x);
    const double ratio = last.slope / first.slope;
    const bool claims = summary.termination == Termination::tolerance_verified;
    verified += claims ? 1 : 0;
    falsely += claims && !(ratio <= tolerance) ? 1 : 0;
    best = std::min(best, last.loss);
    worst = last.loss <= worst ? worst : last.loss;
    table.add({std::to_string(k), std::string(name_of(summary.termination)), fmt::format("{:.6f}", last.loss),
               fmt::format("{:.2g}", ratio), std::to_string(summary.iterations),
               std::to_string(summary.counters.gradients_and_products()), fmt::format("{:.2f}", summary.seconds)});
    settings.told(fmt::format("start {}: h = {:.6f}, {}", k, last.loss, name_of(summary.termination)));
  }
  result.tables.push_back(table.text());
  result.claim("ijcnn1.verified", "every start ends with a verified solution", "all",
               fmt::format("{} of {}", verified, settings.starts), verified == settings.starts);
  result.claim("ijcnn1.honest", "no claim is denied by Newton's method and LDL^T", "none", std::to_string(falsely),
               falsely == 0);
  result.claim("ijcnn1.loss", "the loss on the held-out rows, from the worst of the starts", "at most 0.1545",
               fmt::format("{:.6f}; from the best {:.6f}", worst, best), worst <= wanted_loss);
  return result;
}

} // namespace duplex::reproduce
