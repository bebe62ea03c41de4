// report_page DATA.json PAGE.html: the page of the data, for the test in a browser.

#include "report/files.hpp"
#include "report/html.hpp"

#include <nlohmann/json.hpp>

#include <exception>
#include <fstream>
#include <iostream>

int main(int argc, char **argv) {
  if (argc != 3) {
    std::cerr << "usage: report_page DATA.json PAGE.html\n";
    return 2;
  }
  try {
    std::ifstream file(argv[1]);
    duplex::report::write_file(argv[2], duplex::report::html_page(nlohmann::json::parse(file)));
  } catch (const std::exception &error) {
    std::cerr << error.what() << "\n";
    return 1;
  }
  return 0;
}
