// Creates objects that another object owns: Qt children, layout items, QCustomPlot elements.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

class QLabel;
class QMessageBox;

namespace halfscope {

/// For objects that a constructor hands to its parent, or that go to an owner at once: the reader
/// sees `make<QLabel>(this)` and knows that nobody deletes it by hand. Labels and message boxes
/// show plain text unless they are told otherwise: Qt would load a picture for "<img src=...>" in
/// the name of a stranger's device.
template <class T, class... Args>
T* make(Args&&... args) {
    auto made = std::make_unique<T>(std::forward<Args>(args)...);
    constexpr bool kShowsText = std::is_base_of_v<QLabel, T> || std::is_base_of_v<QMessageBox, T>;
    if constexpr (kShowsText) made->setTextFormat(Qt::PlainText);
    return made.release();
}

} // namespace halfscope
