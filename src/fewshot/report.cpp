#include "fewshot/report.hpp"

#include "data/double_mnist.hpp"

#include <duplex/run/summary.hpp>
#include <duplex/version.hpp>

#include <fmt/format.h>

#include <cmath>

namespace duplex::fewshot {

namespace {

Json settings_json(const Settings &settings) {
  Json json = Json::object();
  Settings::fields(settings,
                   [&](std::string_view name, const auto &value, const Bound &, std::string_view, Role = Role::none) {
                     using Field = std::remove_cvref_t<decltype(value)>;
                     if constexpr (std::floating_point<Field>) {
                       json[std::string(name)] = std::isfinite(value) ? Json(value) : Json();
                     } else if constexpr (std::integral<Field>) {
                       json[std::string(name)] = value;
                     } else {
                       json[std::string(name)] = field_text(value);
                     }
                   });
  return json;
}

Json evaluation_json(const Evaluation &found) {
  return {{"accuracy", found.accuracy}, {"half_width_95", found.half_width}};
}

Json accuracy_panel(const Outcome &outcome, const std::string &title, const std::string &x_label, bool over_seconds) {
  Json x = Json::array();
  Json accuracy = Json::array();
  Json low = Json::array();
  Json high = Json::array();
  for (const auto &look : outcome.looks) {
    x.push_back(over_seconds ? look.seconds : static_cast<double>(look.step));
    accuracy.push_back(100.0 * look.found.accuracy);
    low.push_back(100.0 * (look.found.accuracy - look.found.half_width));
    high.push_back(100.0 * (look.found.accuracy + look.found.half_width));
  }
  return {{"title", title},
          {"x_label", x_label},
          {"y_label", "per cent"},
          {"series", Json::array({{{"name", "accuracy"}, {"x", x}, {"y", accuracy}},
                                  {{"name", "95 % interval, below"}, {"x", x}, {"y", low}},
                                  {{"name", "95 % interval, above"}, {"x", x}, {"y", high}}})}};
}

Json mistakes_section(const Outcome &outcome) {
  Json items = Json::array();
  for (const auto &mistake : outcome.mistakes) {
    items.push_back({{"row", items.size() + 1},
                     {"given", fmt::format("{:02}", mistake.of)},
                     {"suggested", fmt::format("{:02}", mistake.taken_for)},
                     {"pixels", report::base64(mistake.pixels)}});
  }
  const auto side = data::DoubleMnist::side;
  return {{"kind", "suspects"},
          {"title", "Queries taken for another class"},
          {"note", "Of the first tasks of the test: what the image shows, and what its task's head took it for."},
          {"empty", "None of the first tasks of the test."},
          {"image", {{"width", side}, {"height", side}, {"channels", 1}}},
          {"names", {{"given", "its class"}, {"suggested", "taken for"}}},
          {"columns", {"row", "given", "suggested"}},
          {"items", items}};
}

} // namespace

std::string tested_classes(const Settings &settings) {
  return settings.look_on == LookOn::test ? "classes never trained on" : "classes never seen";
}

std::string accuracy_text(const Evaluation &found) {
  return fmt::format("{:.2f} % ± {:.2f}", 100.0 * found.accuracy, 100.0 * found.half_width);
}

Json summary_json(const Outcome &outcome) {
  Json json{{"test", outcome.test ? evaluation_json(*outcome.test) : Json()},
            {"steps", outcome.steps},
            {"seconds_of_training", outcome.seconds},
            {"seconds_of_preparing", outcome.seconds_preparing},
            {"seconds_of_data", outcome.seconds_data},
            {"ended_because", name_of(outcome.ending)},
            {"device", outcome.device},
            {"steps_replayed_as_graphs", outcome.replayed},
            {"settings", settings_json(outcome.settings)}};
  Json looks = Json::array();
  for (const auto &look : outcome.looks) {
    Json entry{{"step", look.step}, {"seconds", look.seconds}};
    entry.update(evaluation_json(look.found));
    looks.push_back(std::move(entry));
  }
  json["looks"] = std::move(looks);
  return json;
}

std::string looks_csv(const Outcome &outcome) {
  std::string text = "step,seconds,accuracy,half_width\n";
  for (const auto &look : outcome.looks) {
    text +=
        fmt::format("{},{:.4f},{:.6f},{:.6f}\n", look.step, look.seconds, look.found.accuracy, look.found.half_width);
  }
  return text;
}

Json report_json(const Outcome &outcome) {
  const auto &shape = outcome.settings.shape;
  Json headline = Json::array();
  if (outcome.test) {
    headline.push_back({{"label", "Test accuracy"},
                        {"value", report::percent(outcome.test->accuracy)},
                        {"note", fmt::format("± {:.2f}, {} tasks of {} {}", 100.0 * outcome.test->half_width,
                                             outcome.settings.test_tasks, data::double_mnist_test.size(),
                                             tested_classes(outcome.settings))}});
  }
  headline.push_back({{"label", "Training"},
                      {"value", duration_text(outcome.seconds)},
                      {"note", fmt::format("{} steps of {} tasks; ended: {}", outcome.steps,
                                           outcome.settings.meta_batch, name_of(outcome.ending))}});
  headline.push_back({{"label", "Getting ready"},
                      {"value", duration_text(outcome.seconds_data + outcome.seconds_preparing)},
                      {"note", fmt::format("images {}, device {}", duration_text(outcome.seconds_data),
                                           duration_text(outcome.seconds_preparing))}});
  const std::string watched = outcome.settings.look_on == LookOn::test ? "test" : "validation";
  Json sections = Json::array();
  sections.push_back(
      {{"kind", "curves"},
       {"title", "While it ran"},
       {"note", fmt::format("Accuracy on {} tasks of the {} classes, which are not trained on; a task's head takes {} "
                            "steps on its shots.",
                            outcome.settings.look_tasks, watched, outcome.settings.test_steps)},
       {"panels", Json::array({accuracy_panel(outcome, "Over time", "seconds of training", true),
                               accuracy_panel(outcome, "Over steps", "step", false)})}});
  if (outcome.test) {
    sections.push_back(mistakes_section(outcome));
  }
  sections.push_back(report::members_section("Settings", settings_json(outcome.settings)));
  return {{"title", fmt::format("Few-shot learning: {} ways, {} {}", shape.ways, shape.shots,
                                shape.shots == 1 ? "shot" : "shots")},
          {"subtitle", fmt::format("DoubleMNIST by {} on {}", outcome.settings.solver, outcome.device)},
          {"generated", report::utc_now()},
          {"version", version},
          {"headline", headline},
          {"sections", sections}};
}

} // namespace duplex::fewshot
