// Reads the setting, and asks for it in a dialog.
#include "ui/window/run_memory.h"

#include "engine/runs/value_budget.h"
#include "ui/look/owned.h"
#include "ui/session/user_settings.h"
#include "ui/window/session_keeper.h"

#include <QInputDialog>
#include <QWidget>

#include <utility>

namespace halfscope {
namespace {

constexpr size_t kMebibyte = size_t{1} << 20;
const QString kBudgetKey = QStringLiteral("memory/budgetMiB");

} // namespace

size_t runBudget() {
    const qulonglong given = userSettings().value(kBudgetKey).toULongLong();
    return given > 0 ? static_cast<size_t>(given) * kMebibyte : usualBudget();
}

void chooseRunBudget(QWidget& window, QObject& receiver, std::function<void(size_t)> chosen) {
    constexpr int kLeast = 64, kMost = 16 * 1024 * 1024; // MiB
    auto* dialog = make<QInputDialog>(&window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(SessionKeeper::tr("Memory for runs"));
    dialog->setLabelText(
        SessionKeeper::tr("Runs take at most this much memory (MiB).\nOlder values of longer runs "
                          "lie on disk and are read when they are shown."));
    dialog->setInputMode(QInputDialog::IntInput);
    dialog->setIntRange(kLeast, kMost);
    dialog->setIntValue(static_cast<int>(runBudget() / kMebibyte));
    QObject::connect(dialog, &QInputDialog::intValueSelected, &receiver,
                     [chosen = std::move(chosen)](int mebibytes) {
                         keepUserSettings({{kBudgetKey, mebibytes}});
                         chosen(static_cast<size_t>(mebibytes) * kMebibyte);
                     });
    dialog->open();
}

} // namespace halfscope
