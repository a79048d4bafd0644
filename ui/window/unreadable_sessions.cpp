// Remembers in the user's settings which of them were named.
#include "ui/window/unreadable_sessions.h"

#include "ui/models/translated.h"
#include "ui/panels/banner.h"
#include "ui/session/user_settings.h"
#include "ui/window/session_keeper.h"

#include <QStringList>

namespace halfscope {

void tellUnreadable(const std::vector<UnreadableSession>& sessions, Banner& banner) {
    const QString key = QStringLiteral("sessions/unreadable"); // names that were told
    const QStringList before = userSettings().value(key).toStringList();
    QStringList names, reasons;
    for (const UnreadableSession& session : sessions) {
        names << QString::fromStdString(session.name);
        if (!before.contains(names.back())) reasons << translated(session.reason);
    }
    if (names != before) keepUserSettings({{key, names}});
    constexpr qsizetype kMost = 3;
    if (const qsizetype more = reasons.size() - kMost; more > 0)
        reasons = reasons.mid(0, kMost)
                  << SessionKeeper::tr("and %n more", nullptr, static_cast<int>(more));
    if (!reasons.isEmpty())
        banner.showText(
            SessionKeeper::tr("Runs of an earlier window cannot be read and stay on disk (%1). "
                              "“halfscope-cli runs” lists and deletes such sessions.")
                .arg(reasons.join(QStringLiteral("; "))));
}

} // namespace halfscope
