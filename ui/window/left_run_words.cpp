// Tells when a session began, and what a run has.
#include "ui/window/left_run_words.h"

#include "ui/models/shown_numbers.h"

#include "ui/window/session_keeper.h"

#include <QDateTime>
#include <QLocale>
#include <QStringList>
#include <QTimeZone>

#include <algorithm>

namespace halfscope {

QString beginningOf(const LeftSession& session) {
    const QStringList parts = QString::fromStdString(session.name()).split(u'-');
    if (parts.size() < 2) return {};
    // apart: a time of UTC may be one that this place skips when its summer begins
    const QDate day = QDate::fromString(parts[0], QStringLiteral("yyyyMMdd"));
    const QTime time = QTime::fromString(parts[1], QStringLiteral("HHmmss"));
    if (!day.isValid() || !time.isValid()) return {};
    const QDateTime begun = QDateTime(day, time, QTimeZone::utc()).toLocalTime();
    const bool today = begun.date() == QDate::currentDate();
    return (today ? SessionKeeper::tr("begun today at %1") : SessionKeeper::tr("begun on %1"))
        .arg(today ? QLocale().toString(begun.time(), QLocale::ShortFormat)
                   : QLocale().toString(begun, QLocale::ShortFormat));
}

QString leftRunLine(const LeftRun& run, const QString& begun) {
    QString line =
        (run.steps == 1 ? SessionKeeper::tr("%1, %2 step") : SessionKeeper::tr("%1, %2 steps"))
            .arg(QString::fromStdString(run.name), countText(run.steps));
    // one that was restored is older than the session that has it now
    if (!begun.isEmpty() && run.origin.empty())
        line = SessionKeeper::tr("%1, from the session %2").arg(line, begun);
    if (!run.goesOnAfter) return SessionKeeper::tr("%1; its networks were not kept").arg(line);
    return SessionKeeper::tr("%1; its networks of step %2 were kept")
        .arg(line, countText(*run.goesOnAfter));
}

QStringList leftRunLines(const std::vector<std::shared_ptr<LeftSession>>& left) {
    QStringList lines;
    for (auto session = left.rbegin(); session != left.rend(); ++session) {
        const std::vector<LeftRun>& all = (*session)->runs();
        const QString begun = left.size() > 1 ? beginningOf(**session) : QString();
        for (auto run = all.rbegin(); run != all.rend(); ++run)
            lines << leftRunLine(*run, begun);
    }
    return lines;
}

LeftRunsBox::Why whyLeft(const std::vector<std::shared_ptr<LeftSession>>& left) {
    using Why = LeftRunsBox::Why;
    const auto of = [](const std::shared_ptr<LeftSession>& each) {
        return each->wasKept() ? Why::Kept : each->wasToldToEnd() ? Why::ToldToEnd : Why::Crashed;
    };
    const Why first = of(left.front());
    const bool same =
        std::ranges::all_of(left, [&](const auto& each) { return of(each) == first; });
    return same ? first : Why::Various;
}

QString restoringText(int restored, size_t wanted) {
    if (wanted < 2 || restored < 1) return SessionKeeper::tr("Restoring runs…");
    return SessionKeeper::tr("Restoring runs… %1 of %2")
        .arg(countText(restored), countText(static_cast<int64_t>(wanted)));
}

QString onlyAPart() {
    return SessionKeeper::tr("Only a part of the runs could be restored (%1). Their file stays on "
                             "disk until you delete it at a later start.");
}

QString keptInMemory(const QString& reason) {
    return SessionKeeper::tr(
               "Runs are not kept on disk now, only in memory: %1. Save results to keep "
               "them.")
        .arg(reason);
}

} // namespace halfscope
