# Everything that is not ours, found in one place. What a room or program needs and is not here
# leaves that room or program out, with a message; torch and GoogleTest are required where asked for.

if(HEED_TORCH)
  include(cmake/torch.cmake)
endif()
if(HEED_TESTS)
  find_package(GTest REQUIRED)
endif()
if(HEED_BENCH)
  find_package(benchmark QUIET)
endif()
find_package(CLI11 QUIET)
find_package(nlohmann_json QUIET)
find_package(yaml-cpp QUIET)
find_package(ZLIB QUIET)
if(TARGET yaml-cpp AND NOT TARGET yaml-cpp::yaml-cpp)  # before yaml-cpp 0.8
  add_library(yaml-cpp::yaml-cpp INTERFACE IMPORTED)
  target_link_libraries(yaml-cpp::yaml-cpp INTERFACE yaml-cpp)
endif()
