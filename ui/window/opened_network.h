// A network that was opened, or that the user had when other data were opened, as a setting and in
// words.
#pragma once

#include <QCoreApplication>
#include <QString>
#include <QStringList>

#include <string>

namespace halfscope {

class Banner;
class ConfigModel;
struct OpenedFile;

class OpenedNetwork {
    Q_DECLARE_TR_FUNCTIONS(OpenedNetwork)
public:
    /// Returns the text of the network where the user has set one; empty where it is that of the
    /// experiment that was opened.
    static std::string ownOf(const ConfigModel&);
    /// Sets the network of a file, with its last layer changed where it fits only so, like any
    /// other setting, in one step that can be undone.
    static void set(ConfigModel&, const OpenedFile&);
    /// Tells which part of a program was taken, or that the user's network is used with other data,
    /// and what may be missing. `stays`: the run that is shown keeps its own network. Returns what
    /// it tells.
    static QString tell(const OpenedFile& program, bool stays, Banner&);
    /// Returns what tells whether the user's network is used with data that were opened, on a line
    /// after what else there is to tell of them.
    static QString onData(const OpenedFile& data, const QString& before);

private:
    static QStringList ofProgram(const OpenedFile&);
};

} // namespace halfscope
