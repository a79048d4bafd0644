// Implements the command line's output. Numbers for people are formatted here; numbers for files in
// engine/core/text.
#include "app/cli_output.h"

#include "engine/core/error.h"
#include "engine/core/percent.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace halfscope::cli {

namespace {

int g_outputError = 0; // the first errno of standard output; global, because there is one standard
                       // output

} // namespace

void letWritesFail() {
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
}

void print(std::string_view text) {
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() && g_outputError == 0) {
        g_outputError = errno;
    }
}

void finishOutput() {
    if (std::fflush(stdout) != 0 && g_outputError == 0) g_outputError = errno;
    if (g_outputError != 0 && g_outputError != EPIPE) {
        throw RunError(Message::data(std::string("standard output: cannot write: ") +
                                     std::strerror(g_outputError)));
    }
}

void printNote(std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return;
        text.remove_prefix(static_cast<size_t>(written));
    }
}

bool noteIsTerminal() {
    const char* terminal = std::getenv("TERM");
    const bool dumb = !terminal || std::strcmp(terminal, "dumb") == 0;
    return !dumb && ::isatty(STDERR_FILENO) == 1;
}

size_t noteWidth() {
    winsize size{};
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
    return size.ws_col;
}

void redrawNote(std::string_view text) {
    // One column less than the terminal has, because a full line would scroll.
    printNote("\r" + std::string(text.substr(0, noteWidth() - 1)) + "\033[K");
}

void clearNote() { printNote("\r\033[K"); }

std::string barText(double share, size_t width) {
    const auto full = static_cast<size_t>(share * static_cast<double>(width));
    return "[" + std::string(full, '#') + std::string(width - full, '.') + "]";
}

std::string shortNumber(double x, int digits) {
    if (std::isnan(x)) return "nan";
    std::array<char, 64> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%.*g", digits, x + 0.0); // never "-0"
    return buffer.data();
}

std::string percentText(double share, int digits) {
    const int decimals = std::max(1, digits - 2); // of 99.9
    if (const auto least = nearlyAllPercent(share, decimals))
        return ">" + shortNumber(*least, decimals + 2) + " %";
    return shortNumber(100 * share, digits) + " %";
}

std::string rateText(double perSecond) {
    constexpr double kWhole = 100; // from here on the decimals say nothing
    return perSecond < kWhole ? shortNumber(perSecond, 3)
                              : std::to_string(std::llround(std::min(perSecond, 1e15)));
}

std::string timeText(double seconds) {
    const auto whole = static_cast<int64_t>(std::lround(std::min(seconds, 3.6e9)));
    const auto two = [](int64_t x) {
        std::string text = std::to_string(x);
        return text.size() < 2 ? text.insert(0, 1, '0') : text;
    };
    const int64_t minutes = whole / 60;
    std::string text = std::to_string(minutes % 60);
    if (minutes >= 60) text = std::to_string(minutes / 60) + ':' + two(minutes % 60);
    return text + ':' + two(whole % 60);
}

std::string scaleText(float scale) {
    int exponent = 0;
    if (scale != 1 && std::frexp(scale, &exponent) == 0.5f) {
        return "2^" + std::to_string(exponent - 1);
    }
    return shortNumber(static_cast<double>(scale));
}

size_t charactersIn(std::string_view text) {
    const auto begins = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; };
    return static_cast<size_t>(std::ranges::count_if(text, begins));
}

std::string paddedLeft(const std::string& text, size_t width) {
    return std::string(width - std::min(width, charactersIn(text)), ' ') + text;
}

std::string padded(std::string text, size_t width) {
    text.append(width - std::min(width, charactersIn(text)), ' ');
    return text;
}

std::string tableText(std::span<const std::vector<std::string>> rows) {
    std::string text;
    for (const auto& row : rows) {
        std::string line;
        for (size_t column = 0; column < row.size(); ++column) {
            size_t width = 0;
            for (const auto& each : rows)
                width = std::max(width, charactersIn(each[column]));
            line += (column > 0 ? "  " : "") + padded(row[column], width);
        }
        text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    return text;
}

} // namespace halfscope::cli
