# Installs the library into a scratch folder and uses it there as people do: by find_package(duplex), and by pkg-config
# without CMake. Needs BUILD, SOURCE and COMPILER.
set(scratch ${BUILD}/consumer)
file(REMOVE_RECURSE ${scratch})
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()
function(require_match text pattern why)
  if(NOT text MATCHES "${pattern}")
    message(FATAL_ERROR "${why}: expected '${pattern}' in\n${text}")
  endif()
endfunction()
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${scratch}/prefix)

# A part that is not there says why.
file(GLOB_RECURSE torch_targets ${scratch}/prefix/*/duplexTorchTargets*.cmake)
if(torch_targets)
  run(${CMAKE_COMMAND} -S ${SOURCE} -B ${scratch}/with_torch -G Ninja -DCMAKE_PREFIX_PATH=${scratch}/prefix -DNEEDED=torch)
  file(REMOVE ${torch_targets})
endif()
execute_process(
  COMMAND ${CMAKE_COMMAND} -S ${SOURCE} -B ${scratch}/build -G Ninja -DCMAKE_PREFIX_PATH=${scratch}/prefix -DNEEDED=torch
  RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
if(result EQUAL 0)
  message(FATAL_ERROR "find_package(duplex COMPONENTS torch) succeeded without the part on LibTorch")
endif()
string(REGEX REPLACE "[ \n]+" " " output "${output}")
require_match("${output}" "the installed duplex was built without LibTorch" "find_package(duplex COMPONENTS torch)")

run(${CMAKE_COMMAND} -S ${SOURCE} -B ${scratch}/build -G Ninja -DCMAKE_PREFIX_PATH=${scratch}/prefix -DNEEDED=)
run(${CMAKE_COMMAND} --build ${scratch}/build)
run(${scratch}/build/consumer)

find_program(PKG_CONFIG pkg-config REQUIRED)
file(GLOB_RECURSE description ${scratch}/prefix/*/duplex.pc)
get_filename_component(folder ${description} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${folder})
run(${PKG_CONFIG} --cflags --libs duplex)
string(STRIP "${output}" flags)
separate_arguments(flags UNIX_COMMAND "${flags}")
# Without NDEBUG, with which the library is compiled, and with a witness that both lay objects out alike.
run(${COMPILER} ${SOURCE}/main.cpp -O1 -fsanitize=address ${flags} -o ${scratch}/plain)
run(${scratch}/plain)
