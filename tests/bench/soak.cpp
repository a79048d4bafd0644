// halfscope-soak MINUTES [SEED]: uses a window at random (play, pause, step, edit, reset, presets,
// save, open, show runs again, delete them) and prints each half minute what the process takes and
// how long the window's thread was held. A seed gives the same actions again.
// halfscope-soak cycles N: starts a training, lets it take a step and resets it, N times.
#include "engine/core/error.h"
#include "tests/support/hold.h"
#include "ui/models/run_list_model.h"
#include "ui/panels/transport_bar.h"
#include "ui/window/main_window.h"

#include <QApplication>
#include <QDir>
#include <QElapsedTimer>
#include <QTemporaryDir>
#include <QTest>
#include <QTimer>

#include <malloc.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <map>
#include <random>
#include <string>

namespace {

using namespace halfscope;

constexpr int kBetweenActions = 40;    // ms
constexpr int kBetweenReports = 30000; // ms
constexpr int kMostRuns = 8;

/// Of /proc/self/status, "VmRSS:" in KiB, "Threads:".
long statusOf(const std::string& key) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
        if (word == key) {
            long value = 0;
            status >> value;
            return value;
        }
    return 0;
}

/// What malloc has given out, in MiB: memory of the process that grows faster is fragments.
double heapMebibytes() {
    const struct mallinfo2 heap = mallinfo2();
    return static_cast<double>(heap.uordblks + heap.hblkhd) / (1024 * 1024);
}

/// Counts pipes and sockets, too, which Qt lists only as files of the system.
qsizetype openFiles() {
    const auto all = QDir::AllEntries | QDir::System | QDir::NoDotAndDotDot;
    return QDir(QStringLiteral("/proc/self/fd")).entryList(all).size();
}

class Soak : public QObject {
public:
    Soak(MainWindow& window, const QTemporaryDir& folder, unsigned seed)
        : m_window(window), m_folder(folder), m_random(seed) {
        m_actions.callOnTimeout([this] { act(); });
        m_reports.callOnTimeout([this] { report(); });
        m_actions.start(kBetweenActions);
        m_reports.start(kBetweenReports);
        std::printf("%8s %9s %8s %8s %7s %7s %7s %9s\n", "seconds", "actions", "MiB", "heap",
                    "files", "threads", "runs", "held ms");
        m_clock.start();
    }

    void report() {
        const qint64 held = m_hold.takeLongest();
        m_longestHeld = std::max(m_longestHeld, held);
        std::printf("%8lld %9d %8.1f %8.2f %7lld %7ld %7d %9lld  %s\n",
                    static_cast<long long>(m_clock.elapsed() / 1000), m_count,
                    static_cast<double>(statusOf("VmRSS:")) / 1024, heapMebibytes(),
                    static_cast<long long>(openFiles()), statusOf("Threads:"),
                    m_window.runs().rowCount(), static_cast<long long>(held), m_slowest.c_str());
        std::fflush(stdout);
        m_slowestMs = 0;
        m_slowest.clear();
    }
    /// Of the window's thread, in ms.
    qint64 longestHeld() const { return m_longestHeld; }

private:
    int draw(int count) { return std::uniform_int_distribution<int>(0, count - 1)(m_random); }

    void act() {
        static const std::array<std::pair<const char*, void (Soak::*)()>, 12> kActions{{
            {"play", &Soak::play},
            {"play", &Soak::play},
            {"pause", &Soak::pause},
            {"step", &Soak::step},
            {"reset", &Soak::reset},
            {"edit", &Soak::edit},
            {"edit", &Soak::edit},
            {"preset", &Soak::preset},
            {"save", &Soak::save},
            {"open", &Soak::open},
            {"show again", &Soak::showAgain},
            {"delete", &Soak::tidy},
        }};
        const auto& [name, action] = kActions[static_cast<size_t>(draw(kActions.size()))];
        QElapsedTimer clock;
        clock.start();
        try {
            (this->*action)();
        } catch (const std::runtime_error&) { // said as it should be: nothing to save, read still
        }
        ++m_count;
        if (clock.elapsed() < m_slowestMs) return;
        m_slowestMs = clock.elapsed();
        m_slowest = std::string(name) + " " + std::to_string(m_slowestMs);
    }

    void play() { m_window.play(); }
    void pause() { m_window.pause(); }
    void step() { m_window.stepOnce(); }
    void reset() { m_window.restart(); }
    void edit() {
        ConfigModel& config = m_window.config();
        const QModelIndex row = config.index(draw(config.rowCount()), 0);
        const QVariant value = row.data(Qt::EditRole);
        static const std::array<QString, 6> kTexts{QStringLiteral("0.01"), QStringLiteral("3"),
                                                   QStringLiteral("true"), QStringLiteral("adam"),
                                                   QStringLiteral("-1"),   QStringLiteral("0.5")};
        // a large network or picture would take the whole time
        if (row.data(ConfigModel::KeyRole).toString().startsWith(QStringLiteral("optimizer")))
            config.setData(row, kTexts[static_cast<size_t>(draw(kTexts.size()))]);
    }
    void preset() {
        static const std::array<const char*, 3> kPresets{"regression", "overflow", "checkerboard"};
        m_window.openPreset(QLatin1String(kPresets[static_cast<size_t>(draw(kPresets.size()))]));
    }
    void save() { m_window.saveResults(m_folder.filePath(QString::number(draw(3)))); }
    void open() { m_window.tryFile(m_folder.filePath(QString::number(draw(3)))); }
    void showAgain() {
        if (const RunId id = anyRun(); id != RunId::None) m_window.shown().bringBack(id);
    }
    void tidy() {
        while (m_window.runs().rowCount() > draw(kMostRuns)) {
            const int before = m_window.runs().rowCount();
            m_window.shown().remove(anyRun());
            if (m_window.runs().rowCount() == before) return; // the one that is shown
        }
    }
    RunId anyRun() {
        const int rows = m_window.runs().rowCount();
        if (rows == 0) return RunId::None;
        return m_window.runs().idAt(draw(rows));
    }

    MainWindow& m_window;
    const QTemporaryDir& m_folder;
    std::mt19937 m_random;
    test::Hold m_hold;
    QTimer m_actions, m_reports;
    QElapsedTimer m_clock;
    int m_count = 0;
    qint64 m_longestHeld = 0, m_slowestMs = 0;
    std::string m_slowest; ///< action
};

/// Whether all cycles took a step.
bool cycles(MainWindow& window, int count) {
    constexpr int kPatience = 60000; // ms
    test::Hold hold;
    std::printf("%8s %8s %8s %7s %7s %7s %9s\n", "cycles", "MiB", "heap", "files", "threads",
                "runs", "held ms");
    for (int i = 1; i <= count; ++i) {
        const RunPtr before = window.shown().run();
        window.play();
        const bool stepped = QTest::qWaitFor(
            [&] {
                const RunPtr& run = window.shown().run();
                return run && (run != before || i == 1) && run->step() > 0;
            },
            kPatience);
        if (!stepped) return false;
        window.restart();
        while (window.runs().rowCount() > kMostRuns) {
            const RunId first = window.runs().idAt(0);
            window.shown().remove(first);
            if (window.runs().idAt(0) == first) break;
        }
        if (i % std::max(1, count / 10) == 0)
            std::printf("%8d %8.1f %8.2f %7lld %7ld %7d %9lld\n", i,
                        static_cast<double>(statusOf("VmRSS:")) / 1024, heapMebibytes(),
                        static_cast<long long>(openFiles()), statusOf("Threads:"),
                        window.runs().rowCount(), static_cast<long long>(hold.takeLongest()));
        std::fflush(stdout);
    }
    return true;
}

} // namespace

int main(int argc, char** argv) {
    QApplication app(argc, argv);
    const bool cycling = argc == 3 && std::string(argv[1]) == "cycles";
    const double minutes = cycling ? 1 : argc > 1 ? std::atof(argv[1]) : 1;
    const unsigned seed = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 1;
    if (minutes <= 0) {
        std::fprintf(stderr, "usage: halfscope-soak MINUTES [SEED] | cycles N\n");
        return 2;
    }
    const QTemporaryDir folder;
    WindowOptions options;
    options.sessions = folder.filePath(QStringLiteral("sessions"));
    MainWindow window(options);
    window.openPreset(QStringLiteral("overflow"));
    window.show();
    if (cycling) return cycles(window, std::atoi(argv[2])) ? 0 : 1;
    Soak soak(window, folder, seed);
    QTimer::singleShot(static_cast<int>(minutes * 60000), &app, &QCoreApplication::quit);
    QApplication::exec();
    soak.report();
    std::printf("longest hold of the window's thread: %lld ms\n",
                static_cast<long long>(soak.longestHeld()));
    return 0;
}
