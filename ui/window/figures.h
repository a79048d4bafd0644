// The figures and sentences about the run that is shown: headline, counters and the strip at the
// top. They change a few times a second, or with each step where steps come slowly.
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
    /// What the user is asked to press: the Play button is called Continue when a run has ended.
    enum class Press { Nothing, Play, Continue };

    Figures(const RunModels&, const WindowParts&);

    /// Starts with another run, which begins after step `begin`: there is no news of it up to that
    /// step.
    void forget(int64_t begin = 0);
    /// Tells that there is something new to show.
    void changed() { m_new = true; }
    /// Shows speeds that have changed, and leaves the headline as it is.
    void showSpeeds();
    /// Makes the newest of the run's events from `first` on the news.
    void tell(const GrowingList<Event>::View&, size_t first);
    /// Makes an event of the run the news as long as the plots point at its step, whatever else
    /// happened there.
    void choose(int event);
    bool hasNews() const { return !m_news.isEmpty(); }
    /// Shows what is new, unless the figures were shown a moment ago and the run goes on. `lead` is
    /// a sentence about a run that is over, put before its outcome; otherwise empty. A warning,
    /// unless it is empty, takes the place of the outcome. Returns whether the figures are those of
    /// the newest step now.
    bool show(bool running, const QString& lead, const QString& warning);
    /// Says what Play would do. `title` is the title of the preset that the sentence is about,
    /// which needs more room than others; otherwise empty. The tool tip of the run's results has
    /// such a sentence, too.
    void invite(const QString& text, Press, const QString& title);
    /// Returns the same invitation in ever fewer words, down to the title.
    static QStringList invitations(const QString& text, Press, const QString& title);
    /// Says why there is nothing to show.
    void apologise(const QString& text);
    /// Says this, from long to short, in place of all else until it is told nothing.
    void cover(const QStringList& texts);

private:
    void showPointed();
    void showStrip();
    void say(const QStringList& texts, double size = 1, const QString& note = {});

    const RunModels& m_models;
    WindowParts m_parts;
    QElapsedTimer m_clock;
    bool m_new = false;             ///< something has not been shown yet
    std::optional<qint64> m_shown;  ///< when figures were last shown, in ms of m_clock; nothing
                                    ///< before this run's first
    QStringList m_news;             ///< the last event in ever fewer words
    int64_t m_newsStep = 0;         ///< the event's
    qint64 m_newsAt = 0;            ///< when it was told, in ms of m_clock
    bool m_newsAreFresh = false;    ///< they cover a lasting condition until they were read
    std::optional<size_t> m_chosen; ///< the event that the user chose
    std::optional<size_t> m_told;   ///< the event of the step that the plots point at
    std::optional<int64_t> m_at;    ///< the step that the strip shows; nothing: the newest
    struct Said {
        QStringList texts;
        double size = 1;
        QString note;
    };
    Said m_said;         ///< in the headline, unless that is covered
    QStringList m_cover; ///< empty: it is not
    QString m_warning;   ///< as it was shown last
    QString m_about;     ///< what the invitation said of the experiment
    int64_t m_begin = 0; ///< the step after which the run begins
};

} // namespace halfscope
