// The figures and sentences of the run that is shown: headline, counters and the strip at the top.
// They change a few times a second at most.
#pragma once

#include "ui/window/run_models.h"
#include "ui/window/window_parts.h"

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QStringList>

#include <optional>

namespace halfscope {

class Figures {
    Q_DECLARE_TR_FUNCTIONS(Figures)
public:
    /// What the user is asked for: the button is called Continue where a run has ended.
    enum class Press { Nothing, Play, Continue };

    Figures(const RunModels&, const WindowParts&);

    /// Of another run from here on, which begins after this step: up to there it has no news.
    void forget(int64_t begin = 0);
    /// There is something to show.
    void changed() { m_new = true; }
    /// The newest of the last `rows` events is news.
    void tell(const EventModel&, int rows);
    bool hasNews() const { return !m_news.isEmpty(); }
    /// What there is to show, unless the figures were shown a moment ago and the run goes on.
    /// `lead`: a sentence about a run that is over, put before its outcome; otherwise empty.
    void show(bool running, const QString& lead);
    /// Says what Play would do. `title`: of the preset whose sentence it is, which needs more room
    /// than the others; else empty.
    void invite(const QString& text, Press, const QString& title);
    /// The same in ever fewer words, down to the title.
    static QStringList invitations(const QString& text, Press, const QString& title);
    /// Says why there is nothing to show.
    void apologise(const QString& text);

private:
    const RunModels& m_models;
    WindowParts m_parts;
    QElapsedTimer m_clock;
    bool m_new = false;            ///< not shown yet
    std::optional<qint64> m_shown; ///< ms of m_clock; nothing yet of this run
    QStringList m_news;            ///< the last event in ever fewer words
    int64_t m_begin = 0;           ///< the step after which the run begins
};

} // namespace halfscope
