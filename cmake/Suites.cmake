# duplex_test_suites(TARGET [PREFIX prefix] [LEFT_OUT filter] [FIRST suite ...] [PROPERTIES name value ...]): each test suite
# of a GoogleTest program as a test of CTest, in a process of its own. A process for each of its tests would be started
# a thousand times, which is slow under sanitizers and with LibTorch. FIRST are those that take longest, and are begun first.
function(duplex_test_suites target)
  cmake_parse_arguments(PARSE_ARGV 1 with "" "PREFIX;LEFT_OUT" "FIRST;PROPERTIES")
  set(list ${CMAKE_CURRENT_BINARY_DIR}/${target}_suites.cmake)
  add_custom_command(
    TARGET ${target}
    POST_BUILD
    BYPRODUCTS ${list}
    COMMAND
      ${CMAKE_COMMAND} -DPROGRAM=$<TARGET_FILE:${target}> -DLIST=${list} "-DPREFIX=${with_PREFIX}" "-DLEFT_OUT=${with_LEFT_OUT}"
      "-DFIRST=${with_FIRST}" "-DPROPERTIES=${with_PROPERTIES}" -P ${PROJECT_SOURCE_DIR}/cmake/list_suites.cmake
    VERBATIM)
  set(include ${CMAKE_CURRENT_BINARY_DIR}/${target}_include.cmake)
  file(WRITE ${include} "if(EXISTS \"${list}\")\n  include(\"${list}\")\nelse()\n  add_test(${target}_NOT_BUILT ${target}_NOT_BUILT)\nendif()\n")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${include})
endfunction()
