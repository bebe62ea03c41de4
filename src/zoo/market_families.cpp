// Leaders and followers: tolls, prices, portfolios.

#include "zoo/family.hpp"
#include "zoo/log_variables.hpp"
#include "zoo/portfolio.hpp"
#include "zoo/pricing.hpp"
#include "zoo/tolls.hpp"

namespace duplex::zoo {

std::vector<Family> market_families() {
  std::vector<Family> out;
  out.push_back({{.name = "tolls", .title = "tolls for revenue, drivers over routes by cost and entropy, in flows"},
                 []<class T>() { return Tolls<T>({.seed = 30}); }});
  out.push_back({{.name = "tolls-log", .title = "the same in logarithms of flows", .is_convex = false},
                 []<class T>() { return LogVariables(Tolls<T>({.seed = 30})); }});
  out.push_back({{.name = "pricing", .title = "prices for profit, a buyer with a quadratic utility"},
                 []<class T>() { return Pricing<T>({.goods = 8, .seed = 31}); }});
  out.push_back({{.name = "pricing-capped", .title = "prices under a cap, a buyer with logarithms in the utility"},
                 []<class T>() { return Pricing<T>({.goods = 12, .curiosity = 0.5, .cap = 3.0, .seed = 32}); }});
  out.push_back({{.name = "portfolio", .title = "signals and risk aversion of a portfolio, from later returns"},
                 []<class T>() { return Portfolio<T>({.assets = 30, .seed = 33}); }});
  out.push_back({{.name = "portfolio-barrier", .title = "the same where all holdings are positive by a barrier"},
                 []<class T>() { return Portfolio<T>({.assets = 20, .barrier = 0.01, .seed = 34}); }});
  return out;
}

} // namespace duplex::zoo
