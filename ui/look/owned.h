// Creates objects that another object owns: Qt children, layout items, QCustomPlot elements.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

class QLabel;
class QMessageBox;

namespace halfscope {

/// For constructors that hand the object to its parent or that are passed on to an owner at once:
/// the reader sees `make<QLabel>(this)` and knows that nobody deletes it by hand. Labels and boxes
/// show plain text unless they are told otherwise: Qt would take "<img src=...>" in the name of a
/// stranger's device for a picture to be loaded.
template <class T, class... Args>
T* make(Args&&... args) {
    auto made = std::make_unique<T>(std::forward<Args>(args)...);
    constexpr bool kShowsText = std::is_base_of_v<QLabel, T> || std::is_base_of_v<QMessageBox, T>;
    if constexpr (kShowsText) made->setTextFormat(Qt::PlainText);
    return made.release();
}

} // namespace halfscope
