// The body of a command, in the module (apps/cli/module.h). A static object in its own file registers it.

#pragma once

#include <cstddef>
#include <functional>
#include <type_traits>
#include <typeinfo>

namespace heed::cli {

class Body {
 public:
  /// run: takes the struct of the option values; returns nothing, or an exit code.
  template <typename Arguments, typename Result>
  Body(const char* command, Result (*run)(const Arguments&))
      : Body(command, typeid(Arguments).name(), sizeof(Arguments), [run](const void* arguments) {
          const auto& given = *static_cast<const Arguments*>(arguments);
          if constexpr (std::is_void_v<Result>) {
            run(given);
            return 0;
          } else {
            return run(given);
          }
        }) {}

 private:
  Body(const char* command, const char* type, size_t size, std::function<int(const void*)> run);
};

}  // namespace heed::cli
