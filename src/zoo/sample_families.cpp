// Classifiers whose training samples are what is tuned: weighed, poisoned and distilled ones.

#include "zoo/distillation.hpp"
#include "zoo/family.hpp"
#include "zoo/losses.hpp"
#include "zoo/poisoning.hpp"
#include "zoo/samples.hpp"
#include "zoo/softmax_classes.hpp"
#include "zoo/weighted.hpp"

namespace duplex::zoo {

namespace {

Family cleaning() {
  return {{.name = "cleaning", .title = "a third of the labels wrong: the sigmoid of a logit weighs every sample"},
          []<class T>() {
            Draws draws(217);
            return Weighted<T, LogisticLoss>(
                {.model = {.targets = Targets::signs, .weights = draws.normals(8), .noise = 0.5, .wrong_targets = 0.3},
                 .training = 80,
                 .validation = 60,
                 .seed = 17});
          }};
}

Family distilled_digits(const std::string &name, double ridge) {
  return {{.name = name, .title = "ten images of 8 × 8 pixels in place of three hundred"}, [ridge]<class T>() {
            Draws draws(218);
            return Distillation<T>({.real = draw_digits(draws, 300, 10), .classes = 10, .copies = 1, .ridge = ridge});
          }};
}

Family distilled_clusters() {
  return {{.name = "distill-small", .title = "six samples in place of ninety, three classes"}, []<class T>() {
            Draws draws(219);
            const Eigen::MatrixXd centres = draws.normals(3, 8);
            return Distillation<T>(
                {.real = draw_clusters(draws, centres, 90, 1.0), .classes = 3, .copies = 2, .ridge = 0.1});
          }};
}

} // namespace

std::vector<Family> sample_families() {
  std::vector<Family> out;
  out.push_back(cleaning());
  out.push_back({{.name = "poisoning", .title = "eight training samples moved by at most a half to spoil a classifier"},
                 []<class T>() { return Poisoning<T>({.seed = 21}); }});
  out.push_back(distilled_clusters());
  out.push_back(distilled_digits("distill-digits", 1.0));
  out.push_back(distilled_digits("distill-weak", 0.01));
  return out;
}

} // namespace duplex::zoo
