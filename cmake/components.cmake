# How a folder of ours becomes a target. Headers are included from the repository root
# ("vm/link/codec.h"), and only by targets that link their owner.

# For those who only want the product or its tests: what nearly every source includes is compiled once,
# and six sources of a target at a time, because most of a build is the same templates (JSON, coroutines,
# options) made again for each source. A cold build takes half the time. Not where people work on
# the code (`cmake --preset release` by hand), so that a missing #include shows and one change compiles
# one source. Names in a target's anonymous namespaces must differ for it.
if(CELLBLOCK_SHARE_HEADERS)
  set(CMAKE_UNITY_BUILD ON)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE 6)
  add_library(cellblock-headers OBJECT ${CMAKE_SOURCE_DIR}/cmake/headers.cc)
  target_precompile_headers(cellblock-headers PRIVATE ${CMAKE_SOURCE_DIR}/cmake/headers.h)
endif()
function(cellblock_share_headers target)
  if(TARGET cellblock-headers)
    target_precompile_headers(${target} REUSE_FROM cellblock-headers)
    target_compile_options(${target} PRIVATE -fPIC)  # programs too: the headers are a library's
    target_link_libraries(${target} PRIVATE cellblock::asio)  # its headers are among them
  endif()
endfunction()

# cellblock_library(NAME vm-link SOURCES ... LINKS ... [PRIVATE_LINKS ...])
# A static library, alias cellblock::NAME. LINKS are what the headers need, PRIVATE_LINKS what only
# the sources need.
function(cellblock_library)
  cmake_parse_arguments(arg "" "NAME" "SOURCES;LINKS;PRIVATE_LINKS" ${ARGN})
  add_library(cellblock-${arg_NAME} STATIC ${arg_SOURCES})
  add_library(cellblock::${arg_NAME} ALIAS cellblock-${arg_NAME})
  cellblock_share_headers(cellblock-${arg_NAME})
  target_include_directories(cellblock-${arg_NAME} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(cellblock-${arg_NAME} PUBLIC ${arg_LINKS} PRIVATE ${arg_PRIVATE_LINKS})
endfunction()

# Everything that checks without a microVM: unit tests, corpus replays, fuzz targets.
add_custom_target(checks)

# cellblock_test(NAME vm-link SOURCES ... LINKS ...)
# A doctest program unit-NAME, registered with ctest under the same name.
function(cellblock_test)
  cmake_parse_arguments(arg "" "NAME" "SOURCES;LINKS" ${ARGN})
  add_executable(unit-${arg_NAME} ${arg_SOURCES})
  cellblock_share_headers(unit-${arg_NAME})
  target_link_libraries(unit-${arg_NAME} PRIVATE ${arg_LINKS} cellblock-unit-main)
  add_test(NAME unit-${arg_NAME} COMMAND unit-${arg_NAME})
  add_dependencies(checks unit-${arg_NAME})
endfunction()

# cellblock_fuzzer(NAME link_frame SOURCES ... LINKS ...)
# With CELLBLOCK_FUZZ a libFuzzer program fuzz-NAME, which runs its kept corpus (tests/fuzz/corpus/NAME)
# first; else replay-NAME, the same source over that corpus (tests/fuzz/replay.cc), a test.
function(cellblock_fuzzer)
  cmake_parse_arguments(arg "" "NAME" "SOURCES;LINKS" ${ARGN})
  if(CELLBLOCK_FUZZ)
    set(program fuzz-${arg_NAME})
    add_executable(${program} ${arg_SOURCES})
    target_link_options(${program} PRIVATE -fsanitize=fuzzer)
  else()
    set(program replay-${arg_NAME})
    add_executable(${program} ${arg_SOURCES})
    target_link_libraries(${program} PRIVATE cellblock-replay-main)
    add_test(NAME ${program} COMMAND ${program} ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${arg_NAME})
  endif()
  cellblock_share_headers(${program})
  target_link_libraries(${program} PRIVATE ${arg_LINKS})
  add_dependencies(checks ${program})
endfunction()
