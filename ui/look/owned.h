// Creates objects that another object owns: Qt children, layout items, QCustomPlot elements.
#pragma once

#include <memory>
#include <utility>

namespace halfscope {

/// For constructors that hand the object to its parent or that are passed on to an owner at once:
/// the reader sees `make<QLabel>(this)` and knows that nobody deletes it by hand.
template <class T, class... Args>
T* make(Args&&... args) {
    return std::make_unique<T>(std::forward<Args>(args)...).release();
}

} // namespace halfscope
