//! The window itself: the only file that knows eframe. Why there is none is a [`WindowError`], in one sentence that says
//! what to do about it.

use std::panic::{self, AssertUnwindSafe, PanicHookInfo};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread;

use eframe::{CreationContext, Frame, NativeOptions, Storage};
use egui::{Context, Ui, ViewportBuilder, ViewportCommand};
use traceview_core::format::ReadOptions;

use crate::jobs::Jobs;
use crate::view::{Input, Request, Settings, Viewer};
use crate::window_error::{Desktop, WindowError};

/// The name under which the desktop knows the program, and where its settings are kept.
const APP_ID: &str = "cargo-traceview";
const SETTINGS: &str = "settings";

/// A window, for other threads.
#[derive(Clone)]
pub struct WindowHandle {
    context: Context,
}

impl WindowHandle {
    /// Closes it.
    pub fn close(&self) {
        self.context.send_viewport_cmd(ViewportCommand::Close);
        self.context.request_repaint();
    }
}

/// Opens a window on `inputs` and returns when it is closed. Must be called on the process's main thread, once.
/// `opened` is told of the window when it is there.
///
/// # Errors
/// Why there can be no window: no display, a library that is missing, no OpenGL.
pub fn run(inputs: Vec<Input>, read: ReadOptions, opened: impl FnOnce(WindowHandle)) -> Result<(), WindowError> {
    let desktop = Desktop::of_this_process();
    desktop.check()?;
    let options = NativeOptions {
        viewport: ViewportBuilder::default()
            .with_app_id(APP_ID)
            .with_title("traceview")
            .with_inner_size([1240.0, 740.0])
            .with_min_inner_size([480.0, 320.0])
            .with_icon(egui::IconData::default())
            .with_drag_and_drop(true),
        ..NativeOptions::default()
    };
    let shown = Arc::new(AtomicBool::new(false));
    let is_shown = Arc::clone(&shown);
    let context = Arc::<OnceLock<Context>>::default();
    // Files are read while the window is being made.
    let viewer = Viewer::reading(inputs, read, Settings::default(), jobs(Arc::clone(&context)));
    // What the window is made with reports some missing libraries by panicking.
    let panicked = PanicMessage::catch();
    let result = panic::catch_unwind(AssertUnwindSafe(|| {
        eframe::run_native(
            APP_ID,
            options,
            Box::new(move |creation| {
                let handle = WindowHandle { context: context.get_or_init(|| creation.egui_ctx.clone()).clone() };
                opened(handle);
                Ok(Box::new(App::new(creation, viewer, is_shown)))
            }),
        )
    }));
    let message = panicked.take();
    match result {
        Ok(Ok(())) => Ok(()),
        Ok(Err(error)) => Err(WindowError::from_messages(&error.to_string(), &format!("{error:?}"), &desktop)),
        Err(_) if shown.load(Ordering::Relaxed) => Err(WindowError::BrokeDown(message.with_place())),
        Err(_) => Err(WindowError::from_messages(&message.text, &message.text, &desktop)),
    }
}

/// Jobs that have the window drawn when they end, once there is one: its first frame needs no call.
fn jobs(context: Arc<OnceLock<Context>>) -> Jobs {
    Jobs::in_background(move || {
        if let Some(context) = context.get() {
            context.request_repaint();
        }
    })
}

/// Keeps what a panic on this thread says instead of printing it.
struct PanicMessage {
    message: Arc<Mutex<Message>>,
    before: Arc<dyn Fn(&PanicHookInfo<'_>) + Send + Sync>,
}

/// What a panic says.
#[derive(Clone, Default)]
struct Message {
    text: String,
    /// Where in the source it is.
    place: String,
}

impl PanicMessage {
    fn catch() -> Self {
        let message = Arc::<Mutex<Message>>::default();
        let before: Arc<dyn Fn(&PanicHookInfo<'_>) + Send + Sync> = Arc::from(panic::take_hook());
        let (kept, elsewhere) = (Arc::clone(&message), Arc::clone(&before));
        let window_thread = thread::current().id();
        panic::set_hook(Box::new(move |info| {
            if thread::current().id() != window_thread {
                elsewhere(info);
            } else if let Ok(mut kept) = kept.lock() {
                let place = info.location().map(ToString::to_string);
                let text = info.payload_as_str().unwrap_or("a panic without a message").to_owned();
                *kept = Message { text, place: place.unwrap_or_default() };
            }
        }));
        Self { message, before }
    }

    fn take(self) -> Message {
        let before = self.before;
        panic::set_hook(Box::new(move |info| before(info)));
        self.message.lock().map_or_else(|_| Message::default(), |message| message.clone())
    }
}

impl Message {
    fn with_place(&self) -> String {
        format!("{} ({})", self.text, self.place)
    }
}

struct App {
    viewer: Viewer,
    title: String,
    shown: Arc<AtomicBool>,
    chosen: (Sender<PathBuf>, Receiver<PathBuf>),
}

impl App {
    fn new(creation: &CreationContext<'_>, mut viewer: Viewer, shown: Arc<AtomicBool>) -> Self {
        let settings = creation.storage.and_then(|storage| eframe::get_value::<Settings>(storage, SETTINGS));
        // The first time there are none; and those of another version may not be understood.
        viewer.restore(settings.unwrap_or_default());
        creation.egui_ctx.set_theme(viewer.settings().theme.preference());
        Self { viewer, title: String::new(), shown, chosen: mpsc::channel() }
    }

    fn answer(&self, request: Request, context: &Context, frame: &mut Frame) {
        match request {
            Request::ChooseFile => {
                let (sender, context) = (self.chosen.0.clone(), context.clone());
                // The desktop's dialog answers when the person does; the window goes on meanwhile.
                let ask = move || {
                    if let Some(path) = rfd::FileDialog::new().set_title("Open a profile").pick_file() {
                        // Without a receiver there is no window any more.
                        let _received = sender.send(path);
                        context.request_repaint();
                    }
                };
                // Where no thread can be started there is still the field for a path.
                let _started = thread::Builder::new().name("file dialog".to_owned()).spawn(ask);
            }
            Request::SaveSettings => {
                // At once: a window that is killed is not asked to save.
                if let Some(storage) = frame.storage_mut() {
                    eframe::set_value(storage, SETTINGS, self.viewer.settings());
                    storage.flush();
                }
            }
        }
    }
}

impl eframe::App for App {
    fn ui(&mut self, ui: &mut Ui, frame: &mut Frame) {
        self.shown.store(true, Ordering::Relaxed);
        while let Ok(path) = self.chosen.1.try_recv() {
            self.viewer.open(Input::File(path));
        }
        self.viewer.ui(ui);
        for request in self.viewer.take_requests() {
            self.answer(request, ui, frame);
        }
        let title = self.viewer.title();
        if title != self.title {
            ui.send_viewport_cmd(ViewportCommand::Title(title.clone()));
            self.title = title;
        }
    }

    fn save(&mut self, storage: &mut dyn Storage) {
        eframe::set_value(storage, SETTINGS, self.viewer.settings());
    }
}
