// How much memory runs may take: a setting of the user's.
#pragma once

#include <cstddef>
#include <functional>

class QObject;
class QWidget;

namespace halfscope {

/// Returns the most bytes that the values of runs may take in memory.
size_t runBudget();
/// Asks the user for another budget, and tells it as long as `receiver` lives.
void chooseRunBudget(QWidget& window, QObject& receiver, std::function<void(size_t)> chosen);

} // namespace halfscope
