// The window program: options, theme, and taking a screenshot of a finished run. Everything that is
// visible is in ui/.
#include "app/end_signals.h"
#include "engine/core/error.h"
#include "engine/io/atomic_file.h"
#include "ui/models/translated.h"
#include "ui/session/left_threads.h"
#include "ui/session/user_settings.h"
#include "ui/window/desktop_session.h"
#include "ui/window/guarded_application.h"
#include "ui/window/main_window.h"
#include "ui/window/next_start.h"
#include "ui/window/zoom.h"

#include <QApplication>
#include <QBuffer>
#include <QCommandLineParser>
#include <QEventLoop>
#include <QFile>
#include <QPixmap>
#include <QScreen>
#include <QStandardPaths>

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <optional>
#include <vector>

namespace {

using namespace halfscope;

constexpr int kFailed = 1;
constexpr int kBadInput = 2;
constexpr int kSignalled = 128; // plus the signal's number, as shells report it

struct Options {
    QString file, preset = QStringLiteral("checkerboard"), screenshot;
    std::optional<Theme> theme;
    std::optional<QSize> size;
    std::optional<qint64> steps;
    bool play = false;
    LeftRuns left{};
};

void complain(const QString& text) { std::fprintf(stderr, "halfscope: %s\n", qPrintable(text)); }

QSize parseSize(const QString& text) {
    const QStringList parts = text.split(u'x');
    bool wide = false, high = false;
    const QSize size(parts.value(0).toInt(&wide), parts.value(1).toInt(&high));
    if (parts.size() != 2 || !wide || !high || size.width() < 320 || size.height() < 240 ||
        size.width() > 16384 || size.height() > 16384)
        throw InputError(
            phrase("Program",
                   "--size: \"%1\" is not allowed: WIDTHxHEIGHT, from 320x240 to 16384x16384"),
            text.toStdString());
    return size;
}

Theme parseTheme(const QString& text) {
    if (text != QLatin1String("auto") && text != QLatin1String("light") &&
        text != QLatin1String("dark"))
        throw InputError(phrase("Program", "--theme: \"%1\" is not allowed: auto, light or dark"),
                         text.toStdString());
    return themeNamed(text);
}

qint64 parseSteps(const QString& text) {
    const Field& field = *findField("run.steps");
    try {
        return std::get<int64_t>(parseValue(field, text.toStdString()));
    } catch (const InputError&) {
        throw InputError(phrase("Program", "--steps: \"%1\" is not allowed: %2"),
                         text.toStdString(), allowedText(field));
    }
}

/// An option with which the program starts itself again, see LeftRuns. Users have no need of it.
QCommandLineOption hiddenOption(const QString& name, const QString& value = {}) {
    QCommandLineOption option(name, QString(), value);
    option.setFlags(QCommandLineOption::HiddenFromHelp);
    return option;
}

/// Throws InputError for wrong usage. --help and --version end the program here.
Options parse(QApplication& app) {
    QCommandLineParser parser;
    parser.setApplicationDescription(QCoreApplication::translate(
        "Program", "Halfscope: train the same network in FP32 and in mixed "
                   "precision, and watch the difference."));
    const QCommandLineOption help = parser.addHelpOption();
    const QCommandLineOption version = parser.addVersionOption();
    parser.addOptions(
        {{QStringLiteral("preset"),
          QCoreApplication::translate("Program",
                                      "Start with a preset; halfscope-cli presets lists them."),
          QStringLiteral("name")},
         {QStringLiteral("play"), QCoreApplication::translate("Program", "Train at once.")},
         {QStringLiteral("steps"),
          QCoreApplication::translate("Program", "Stop after this many steps."),
          QStringLiteral("n")},
         {QStringLiteral("screenshot"),
          QCoreApplication::translate(
              "Program", "Write a PNG of the window when the steps are done, then quit."),
          QStringLiteral("file")},
         {QStringLiteral("theme"), QCoreApplication::translate("Program", "auto, light or dark."),
          QStringLiteral("name")},
         {QStringLiteral("size"),
          QCoreApplication::translate("Program", "Size of the window, like 1280x800."),
          QStringLiteral("WxH")}});
    parser.addOption(hiddenOption(QStringLiteral("restore"), QStringLiteral("session")));
    parser.addOption(hiddenOption(QStringLiteral("bring-back"), QStringLiteral("place")));
    parser.addOption(hiddenOption(QStringLiteral("edits"), QStringLiteral("file")));
    parser.addPositionalArgument(
        QStringLiteral("file"),
        QCoreApplication::translate(
            "Program",
            "An experiment file, the folder of a saved run, a checkpoint, data to "
            "train on (a csv table, arrays, a folder of pictures, MNIST, CIFAR, a text), or "
            "a PNG or JPEG picture for the networks to paint."),
        QStringLiteral("[experiment|data|picture]"));
    if (!parser.parse(app.arguments()))
        throw InputError(Message::data(parser.errorText().toStdString()));
    if (parser.isSet(help)) parser.showHelp(0);
    if (parser.isSet(version)) parser.showVersion();
    const QStringList files = parser.positionalArguments();
    if (files.size() > 1)
        throw InputError(phrase("Program", "one file at most, not %1"), files.size());
    Options options;
    options.file = files.value(0);
    if (parser.isSet(QStringLiteral("preset"))) {
        if (!files.isEmpty())
            throw InputError(phrase("Program", "--preset and a file exclude each other"));
        options.preset = parser.value(QStringLiteral("preset"));
        presetNamed(options.preset.toStdString());
    }
    options.play = parser.isSet(QStringLiteral("play"));
    options.screenshot = parser.value(QStringLiteral("screenshot"));
    if (parser.isSet(QStringLiteral("steps")))
        options.steps = parseSteps(parser.value(QStringLiteral("steps")));
    if (parser.isSet(QStringLiteral("theme")))
        options.theme = parseTheme(parser.value(QStringLiteral("theme")));
    options.left = {parser.value(QStringLiteral("restore")), std::nullopt,
                    parser.value(QStringLiteral("edits"))};
    if (parser.isSet(QStringLiteral("bring-back")))
        options.left.shown = parser.value(QStringLiteral("bring-back")).toInt();
    if (parser.isSet(QStringLiteral("size")))
        options.size = parseSize(parser.value(QStringLiteral("size")));
    return options;
}

/// Whether the display is missing: Qt would abort, and a sentence is better. Looks only when Qt
/// would use X11 or Wayland.
bool displayMissing(int count, char** arguments) {
#if defined(Q_OS_LINUX)
    if (qEnvironmentVariableIsSet("QT_QPA_PLATFORM")) return false;
    for (int i = 1; i < count; ++i)
        if (QByteArray(arguments[i]).startsWith("-platform") ||
            QByteArray(arguments[i]).startsWith("--platform"))
            return false;
    return qEnvironmentVariableIsEmpty("DISPLAY") && qEnvironmentVariableIsEmpty("WAYLAND_DISPLAY");
#else
    return count < 0 && !arguments;
#endif
}

constexpr const char* kNoDisplay =
    "halfscope: there is no display to open a window on; halfscope-cli trains without one\n";

QtMessageHandler g_usualMessages = nullptr;

/// Handles messages while the application object is made: a display that cannot be reached gives a
/// sentence instead of an abort.
void startMessages(QtMsgType type, const QMessageLogContext& context, const QString& text) {
    if (type == QtFatalMsg) {
        std::fputs(kNoDisplay, stderr);
        std::_Exit(kFailed);
    }
    // the sentence at the end is clearer, and a folder for sockets is not needed here
    const bool noise = QByteArray(context.category).startsWith("qt.qpa") ||
                       text.startsWith(QLatin1String("QStandardPaths: XDG_RUNTIME_DIR"));
    if (!noise) g_usualMessages(type, context, text);
}

/// Whether the arguments ask only for help or the version, which need no display.
bool needsNoDisplay(int count, char** arguments) {
    for (int i = 1; i < count; ++i) {
        const QByteArray argument(arguments[i]);
        if (argument == "--help" || argument == "-h" || argument == "--version" ||
            argument == "-v" || argument == "-?")
            return true;
    }
    return false;
}

/// Returns whether the picture is on the disk; otherwise prints why not.
bool writePicture(const QPixmap& picture, const QString& path) {
    QBuffer bytes; // a file of Qt's would report a full disk too late
    bytes.open(QIODevice::WriteOnly);
    if (!picture.save(&bytes, "PNG")) {
        complain(QCoreApplication::translate("Program", "%1: cannot write the picture").arg(path));
        return false;
    }
    try {
        writeFileAtomically(QFile::encodeName(path).toStdString(), bytes.data().toStdString());
        return true;
    } catch (const RunError& error) {
        complain(QString::fromUtf8(error.what()));
        return false;
    }
}

void takeScreenshot(MainWindow& window, const Options& options) {
    QObject::connect(&window, &MainWindow::settled, &window, [&window, &options] {
        const SessionState state = window.controller().state();
        if (state == SessionState::Failed || window.shown().refusedRun()) {
            complain(window.bannerText());
            QCoreApplication::exit(state == SessionState::Failed ? kFailed : kBadInput);
            return;
        }
        if (options.play && state != SessionState::Finished) return;
        QCoreApplication::exit(writePicture(window.grab(), options.screenshot) ? 0 : kFailed);
    });
}

enum class Opening { Done, Failed, Stopped, Closed };

/// Opens the given file. A file that cannot be opened is reported in the window, too, because a
/// user who double-clicked it sees no terminal. A script that wants a picture gets the error alone.
/// While the window reads its file it is visible and can be closed, or told to stop reading.
Opening openGiven(MainWindow& window, const Options& options) {
    if (!options.screenshot.isEmpty()) {
        window.openFile(options.file);
        return Opening::Done;
    }
    bool opened = window.tryFile(options.file), stopped = false;
    if (window.opens()) {
        QEventLoop reading;
        QObject::connect(&window, &MainWindow::fileEnded, &reading, [&](bool good) {
            opened = good;
            reading.quit();
        });
        QObject::connect(&window, &MainWindow::fileStopped, &reading, [&] {
            stopped = true;
            reading.quit();
        });
        window.show();
        reading.exec();
        if (window.opens()) return Opening::Closed;
        if (stopped) return Opening::Stopped;
    }
    if (!opened) complain(window.bannerText());
    return opened ? Opening::Done : Opening::Failed;
}

int runWindow(QApplication& app, const Options& options, std::optional<QStringList>& again) {
    WindowOptions settings;
    settings.left = options.left;
    // a screenshot must look the same whatever the user's window looks like
    settings.remember = options.screenshot.isEmpty();
    settings.theme = options.theme.value_or(
        settings.remember ? themeNamed(userSettings().value(QStringLiteral("theme")).toString())
                          : Theme::Auto);
    if (settings.remember)
        settings.sessions = QStandardPaths::writableLocation(QStandardPaths::AppLocalDataLocation) +
                            QStringLiteral("/sessions");
    MainWindow window(settings);
    const auto kept = [](const Message& problem) {
        if (!problem.empty())
            complain(QCoreApplication::translate("Program", "not all runs are kept on disk: %1")
                         .arg(translated(problem)));
    };
    int signalled = 0;
    const EndSignals ends([kept, &window, &signalled](int signal) {
        signalled = kSignalled + signal;
        const Message problem = window.endSession(); // keeps the last steps, too
        QCoreApplication::exit(signalled);
        kept(problem);
    });
    const DesktopSession desktop(app, window, kept);
    if (options.size) window.resize(*options.size);
    // a screenshot has the same size everywhere
    if (!options.size && settings.remember)
        window.resize(startSize(window.size(), window.screen()->availableSize()));
    window.openWithStop(options.steps);
    window.openPreset(options.preset); // a picture takes its network and lanes from it
    const Opening opening = options.file.isEmpty() ? Opening::Done : openGiven(window, options);
    if (opening == Opening::Closed) return signalled;
    if (opening == Opening::Failed) {
        window.show();
        app.exec();
        return kBadInput;
    }
    window.openWithStop({}); // what the user opens later has its own
    window.editAsBefore();
    if (options.play && opening == Opening::Done) window.play();
    if (!options.screenshot.isEmpty()) takeScreenshot(window, options);
    window.show();
    const int code = app.exec();
    again = window.startsAgain();
    return code;
}

QStringList textsOf(int count, char** arguments) {
    QStringList texts;
    for (int i = 0; i < count; ++i)
        texts << QString::fromLocal8Bit(arguments[i]);
    return texts;
}

constexpr const char* kFactor = "QT_SCALE_FACTOR";

/// Sets the zoom now, because Qt reads it when the application object is made. Returns whether it
/// set it: the user's own variable has precedence.
bool setZoom(int count, char** arguments) {
    const double factor = startFactor(textsOf(count, arguments));
    if (factor == 1 || qEnvironmentVariableIsSet(kFactor)) return false;
    return qputenv(kFactor, QByteArray::number(factor));
}

/// Replaces this program by a new start of it; `call` has its path and arguments. Threads that were
/// left and files that are open end with it. Returns only when that fails.
void startAgain(const QStringList& call, bool zoomed) {
    if (zoomed) qunsetenv(kFactor); // the new start reads the user's choice
    std::vector<QByteArray> texts;
    for (const QString& each : call)
        texts.push_back(QFile::encodeName(each));
    std::vector<char*> pointers;
    for (QByteArray& text : texts)
        pointers.push_back(text.data());
    pointers.push_back(nullptr);
    ::execv(pointers.front(), pointers.data());
    complain(
        QCoreApplication::translate("Program", "%1: cannot be started again").arg(call.front()));
}

/// Runs the window. Fills `again` with the call of a new start if the user asked for one.
int runProgram(int& argc, char** argv, bool zoomed, std::optional<QStringList>& again) {
    const QStringList given = textsOf(argc, argv); // before Qt takes its own
    g_usualMessages = qInstallMessageHandler(startMessages);
    GuardedApplication app(argc, argv);
    qInstallMessageHandler(g_usualMessages);
    halfscope::loadTranslation(QLocale(),
                               translationFolders(QCoreApplication::applicationDirPath()));
    try {
        const int code = runWindow(app, parse(app), again);
        if (again)
            *again = QStringList(QCoreApplication::applicationFilePath())
                     << takenByQt(given, app.arguments()) << *again;
        if (anyThreadLeft()) {
            std::fflush(stdout); // only stdout: a thread that was left may hold a file of its own
            if (again) startAgain(*again, zoomed);
            std::_Exit(code);
        }
        return code;
    } catch (const halfscope::InputError& error) {
        complain(halfscope::translated(error));
        return kBadInput;
    } catch (const std::bad_alloc&) {
        std::fputs("halfscope: out of memory\n", stderr);
        return kFailed;
    } catch (const std::exception& error) {
        complain(halfscope::translated(error));
        return kFailed;
    }
}

} // namespace

int main(int argc, char** argv) {
    halfscope::reserveStandardFiles();
    // when a terminal is gone, or files may not be larger, writes fail and the window continues
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    if (needsNoDisplay(argc, argv)) {
        qputenv("QT_QPA_PLATFORM", "offscreen");
    } else if (displayMissing(argc, argv)) {
        std::fputs(kNoDisplay, stderr);
        return kFailed;
    }
    QCoreApplication::setOrganizationName(QStringLiteral("Halfscope"));
    QCoreApplication::setApplicationName(QStringLiteral("halfscope"));
    QCoreApplication::setApplicationVersion(QStringLiteral(HALFSCOPE_VERSION));
    QGuiApplication::setDesktopFileName(QStringLiteral("io.github.halfscope.Halfscope"));
    const bool zoomed = setZoom(argc, argv);
    std::optional<QStringList> again;
    const int code = runProgram(argc, argv, zoomed, again);
    if (!again) return code;
    startAgain(*again, zoomed);
    return kFailed;
}
