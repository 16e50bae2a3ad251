// Storage for an object of a class derived from Base, without an allocation: a decoder's step is too short for one.

#pragma once

#include <cstddef>
#include <new>

namespace heed::kernels::cpu {

template <class Base, size_t kScratch>
class InPlace {
 public:
  InPlace() = default;
  ~InPlace() {
    if (object_ != nullptr) object_->~Base();
  }
  InPlace(const InPlace&) = delete;
  InPlace& operator=(const InPlace&) = delete;

  template <class Kind, class... Arguments>
  void make(const Arguments&... arguments) {
    static_assert(sizeof(Kind) <= kScratch);
    object_ = new (scratch_) Kind(arguments...);
  }
  Base& operator*() { return *object_; }

 private:
  alignas(64) std::byte scratch_[kScratch];
  Base* object_ = nullptr;
};

}  // namespace heed::kernels::cpu
