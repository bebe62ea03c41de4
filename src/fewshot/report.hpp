#pragma once
// What a few-shot run found, as files.

#include "fewshot/training.hpp"
#include "report/page.hpp"

#include <string>

namespace duplex::fewshot {

using report::Json;

[[nodiscard]] Json summary_json(const Outcome &outcome);
/// step,seconds,accuracy,half_width
[[nodiscard]] std::string looks_csv(const Outcome &outcome);
/// The data of the report page.
[[nodiscard]] Json report_json(const Outcome &outcome);

/// "classes never seen", unless the training was looked at by them.
[[nodiscard]] std::string tested_classes(const Settings &settings);

/// "95.2 % ± 0.3"
[[nodiscard]] std::string accuracy_text(const Evaluation &found);

} // namespace duplex::fewshot
