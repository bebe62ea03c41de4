# One target for each folder of src/: all the .cpp files in it, and none of the folders below it.

# What every file of src/ is compiled with.
add_library(duplex_settings INTERFACE)
target_include_directories(duplex_settings INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/generated
                                                     ${PROJECT_SOURCE_DIR}/src)
# Eigen's threads cut a product elsewhere for each number of them, and round differently; results of Duplex do not
# depend on how many cores a machine has.
target_compile_definitions(duplex_settings INTERFACE EIGEN_DONT_PARALLELIZE)
target_link_libraries(duplex_settings INTERFACE duplex_warnings)

# duplex_folder(TARGET FOLDER STATIC|OBJECT [LINKS target ...] [SOURCES file ...]): FOLDER is relative to src/, SOURCES are
# generated files besides.
function(duplex_folder target folder kind)
  cmake_parse_arguments(PARSE_ARGV 3 with "" "" "LINKS;SOURCES")
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cpp)
  add_library(${target} ${kind} ${sources} ${with_SOURCES})
  target_link_libraries(${target} PUBLIC ${with_LINKS} PRIVATE $<BUILD_INTERFACE:duplex_settings>)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# duplex_alone(FILE ...): these take so long by themselves that they are in no bundle; duplex_bundles_of(TARGET SIZE): those
# of a folder are smaller than others. So no unit takes longer than 25 s. To clang-tidy nearly all is headers, of which the
# time is the less the larger the bundles are.
function(duplex_alone)
  if(NOT DUPLEX_TIDY)
    set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endfunction()
function(duplex_bundles_of target size)
  if(NOT DUPLEX_TIDY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE ${size})
  endif()
endfunction()
