#pragma once
// A shared library that may be missing: loaded while the program runs, its functions looked up by name.

#include <dlfcn.h>

#include <string>

namespace perfcast {

// As long as it lives, the library stays loaded.
class LoadedLibrary {
 public:
  explicit LoadedLibrary(const std::string& file) : handle_(dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr) {
      if (const char* text = dlerror()) problem_ = text;
    }
  }
  LoadedLibrary(const LoadedLibrary&) = delete;
  LoadedLibrary& operator=(const LoadedLibrary&) = delete;
  ~LoadedLibrary() {
    if (handle_ != nullptr) dlclose(handle_);
  }

  explicit operator bool() const { return handle_ != nullptr; }
  const std::string& problem() const { return problem_; }  // why it could not be loaded

  // For libraries whose functions return an int that is 0 on success, and take exactly these types. True where the
  // library has the function and it succeeded.
  template <typename... Arguments>
  bool call(const char* name, Arguments... arguments) const {
    auto* function = reinterpret_cast<int (*)(Arguments...)>(dlsym(handle_, name));
    return function != nullptr && function(arguments...) == 0;
  }

 private:
  void* handle_;
  std::string problem_;
};

}  // namespace perfcast
