// Menus, shortcuts, and the windows that they open beside the main one.
#include "ui/dialogs/help.h"
#include "ui/dialogs/help_dialog.h"
#include "ui/dialogs/verify_dialog.h"
#include "ui/images/compare_view.h"
#include "ui/look/icons.h"
#include "ui/look/owned.h"
#include "ui/look/zoom.h"
#include "ui/panels/event_panel.h"
#include "ui/panels/setup_panel.h"
#include "ui/panels/transport_bar.h"
#include "ui/plots/gradient_view.h"
#include "ui/plots/plot_stack.h"
#include "ui/window/main_window.h"

#include <QMenuBar>
#include <QMessageBox>
#include <QShortcut>
#include <QSplitter>
#include <QStatusBar>

#include <cmath>
#include <utility>

namespace halfscope {

void MainWindow::buildMenus() {
    QMenu* file = menuBar()->addMenu(tr("&File"));
    file->addMenu(m_transport->presetMenu());
    file->addAction(tr("&Open…"), QKeySequence::Open, this, &MainWindow::chooseFile);
    file->addAction(tr("&Save experiment as…"), QKeySequence::Save, this,
                    &MainWindow::chooseExperimentFile);
    file->addAction(tr("Save &picture of the plots…"), QKeySequence(Qt::CTRL | Qt::Key_E), this,
                    &MainWindow::savePlots);
    file->addAction(tr("Save &results…"), QKeySequence(Qt::CTRL | Qt::SHIFT | Qt::Key_S), this,
                    &MainWindow::chooseResultsFolder);
    file->addSeparator();
    file->addAction(tr("&Quit"), QKeySequence(Qt::CTRL | Qt::Key_Q), this, &QWidget::close);
    QMenu* edit = menuBar()->addMenu(tr("&Edit"));
    QAction* undo = m_history.stack().createUndoAction(this, tr("&Undo"));
    undo->setShortcut(QKeySequence::Undo);
    QAction* redo = m_history.stack().createRedoAction(this, tr("&Redo"));
    redo->setShortcut(QKeySequence::Redo);
    edit->addActions({undo, redo});
    addBringBack(*edit);
    fillViewMenu(*menuBar()->addMenu(tr("&View")));
    QMenu* help = menuBar()->addMenu(tr("&Help"));
    help->addAction(tr("&Help and shortcuts"), QKeySequence::HelpContents, this,
                    &MainWindow::showHelp);
    help->addAction(tr("&Questions about AMP"), this,
                    [this] { showHelpPart(QLatin1String(kHelpQuestions)); });
    help->addAction(tr("&Verify against PyTorch…"), this, &MainWindow::showVerification);
    help->addAction(tr("&About Halfscope"), this, &MainWindow::showAbout);
    addShortcut(Qt::Key_Space, &MainWindow::playOrPause);
    addShortcut(Qt::Key_Period, &MainWindow::stepOnce);
    addShortcut(Qt::Key_R, &MainWindow::restart);
    addShortcut(Qt::Key_F, &MainWindow::followNewest);
}

void MainWindow::fillViewMenu(QMenu& view) {
    view.addMenu(m_transport->themeMenu());
    fillZoomMenu(*view.addMenu(tr("Si&ze of everything")));
    m_followAction = view.addAction(tr("Plots &follow the newest step\tF"));
    m_followAction->setCheckable(true);
    m_followAction->setChecked(true);
    connect(m_followAction, &QAction::triggered, m_plots, &PlotStack::setFollow);
    connect(m_plots, &PlotStack::followChanged, m_followAction, &QAction::setChecked);
    fillSmoothingMenu(*view.addMenu(tr("S&mooth the loss")));
    m_previousAction = view.addAction(tr("Losses of the &run before"));
    m_previousAction->setShortcut(Qt::Key_B);
    m_previousAction->setCheckable(true);
    connect(m_previousAction, &QAction::toggled, m_plots, &PlotStack::showPrevious);
    addGradientsAction(view);
    view.addSeparator();
    using Shows = CompareView::Shows;
    for (const auto& [text, shows] :
         {std::pair(tr("Last picture: &target\t1"), Shows::Target),
          std::pair(tr("Last picture: &difference\t2"), Shows::Difference),
          std::pair(tr("Last picture: &swipe\t3"), Shows::Swipe)})
        view.addAction(text, m_pictures, [this, wanted = shows] { m_pictures->showLast(wanted); });
    QAction* alone = view.addAction(tr("&Only the last picture\t4"));
    alone->setCheckable(true);
    connect(alone, &QAction::toggled, m_pictures, &CompareView::setAlone);
    connect(m_pictures, &CompareView::aloneChanged, this, [this, alone](bool on) {
        alone->setChecked(on);
        divideCentre();
    });
    const auto zoom = [this](double factor) {
        return [this, factor] { m_pictures->transform().zoomAbout({0.5, 0.5}, factor); };
    };
    constexpr double kZoom = 1.5;
    QAction* zoomIn = view.addAction(tr("Zoom the pictures &in"), this, zoom(kZoom));
    zoomIn->setShortcuts({QKeySequence::ZoomIn, QKeySequence(Qt::CTRL | Qt::Key_Equal)});
    view.addAction(tr("Zoom the pictures &out"), QKeySequence::ZoomOut, this, zoom(1 / kZoom));
    view.addAction(tr("Show the &whole pictures"), QKeySequence(Qt::CTRL | Qt::Key_0),
                   &m_pictures->transform(), &ViewTransform::fit);
    view.addSeparator();
    QAction* settings = view.addAction(tr("S&ettings"));
    settings->setShortcut(Qt::Key_F9);
    settings->setCheckable(true);
    settings->setChecked(true);
    connect(settings, &QAction::toggled, this, [this](bool on) {
        m_setup->setVisible(on);
        // the border may have been pushed to the edge
        if (on && m_columns->sizes().front() == 0)
            m_columns->setSizes({kSetupWidth, width() - kSetupWidth - kRightWidth, kRightWidth});
    });
    m_settingsAction = settings;
    QAction* fullScreen = view.addAction(tr("F&ull screen"));
    fullScreen->setShortcut(Qt::Key_F11);
    fullScreen->setCheckable(true);
    connect(fullScreen, &QAction::toggled, this,
            [this](bool on) { setWindowState(windowState().setFlag(Qt::WindowFullScreen, on)); });
    m_fullScreenAction = fullScreen;
}

void MainWindow::fillZoomMenu(QMenu& menu) {
    for (const int percent : zooms()) {
        QAction* action = menu.addAction(tr("%1 %").arg(percent), this, [this, percent] {
            if (m_options.remember) rememberZoom(percent);
            constexpr int kReadable = 8000; // ms
            statusBar()->showMessage(
                tr("Everything is %1 % large when Halfscope starts again.").arg(percent),
                kReadable);
        });
        action->setCheckable(true);
        connect(&menu, &QMenu::aboutToShow, action,
                [action, percent] { action->setChecked(percent == rememberedZoom()); });
    }
}

void MainWindow::addGradientsAction(QMenu& view) {
    m_gradientsAction = view.addAction(tr("&Gradients"));
    m_gradientsAction->setShortcut(Qt::Key_G);
    m_gradientsAction->setCheckable(true);
    m_gradientsAction->setToolTip(tr("How large the gradients are, and what fp16 makes of them: "
                                     "underflow and overflow (G). While they are shown, a step's "
                                     "time now and then goes into counting them"));
    connect(m_gradientsAction, &QAction::toggled, this, [this](bool on) {
        m_gradients->setVisible(on);
        m_plots->showGradients(on);
        m_controller->watchGradients(on);
        divideRight();
    });
    m_eventPanel->addToHeading(m_gradientsAction);
}

void MainWindow::fillSmoothingMenu(QMenu& menu) {
    for (const double weight : {0.0, 0.6, 0.9, 0.97, Smoother::kMost}) {
        const QString name = weight > 0 ? tr("Weight %1 of the past").arg(weight) : tr("As it is");
        QAction* action = menu.addAction(name, m_plots, [this, weight] {
            m_plots->setSmoothing(weight);
            m_plots->refresh();
        });
        action->setCheckable(true);
        connect(&menu, &QMenu::aboutToShow, action, [this, action, weight] {
            action->setChecked(std::abs(m_plots->smoothing() - weight) < 1e-9);
        });
    }
}

void MainWindow::addShortcut(const QKeySequence& keys, void (MainWindow::*action)()) {
    auto* shortcut = make<QShortcut>(keys, this);
    shortcut->setAutoRepeat(false);
    connect(shortcut, &QShortcut::activated, this, action);
}

void MainWindow::showHelp() { showHelpPart(QString()); }

/// Not modal: the shortcuts can be tried. It opens where it was left, or at a part of it.
void MainWindow::showHelpPart(const QString& anchor) {
    if (!m_help) {
        m_help = make<HelpDialog>(this);
        connect(m_help, &HelpDialog::presetChosen, this, &MainWindow::openPreset);
    }
    m_help->showPart(anchor);
}

void MainWindow::showVerification() {
    VerifyOptions options;
    options.device = m_config.config().device;
    options.threads = static_cast<int>(m_config.config().threads);
    auto* dialog = make<VerifyDialog>(options, this);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->show(); // training goes on
}

void MainWindow::showAbout() {
    auto* box = make<QMessageBox>(QMessageBox::NoIcon, tr("About Halfscope"), aboutText(),
                                  QMessageBox::Close, this);
    box->setIconPixmap(programIcon().pixmap(64));
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setModal(false);
    box->show();
}

} // namespace halfscope
