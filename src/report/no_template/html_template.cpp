#include "report/html_template.hpp"

namespace duplex::report {

std::string_view html_template() { return {}; }

} // namespace duplex::report
