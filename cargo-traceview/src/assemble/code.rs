//! The code tables of a profile: libraries, functions, frames and stacks of a recording, with their names.

use std::sync::Arc;

use traceview_core::model::{
    Crate, Frame, FrameId, Function, FunctionKind, Library, LibraryId, NativeSymbol, ProfileBuilder, Resource,
    ResourceId, ResourceKind, Source, StackId, StandardCategory, SymbolStatus,
};

use super::origins::Origins;
use crate::image::BuildId;
use crate::sampler::arch;
use crate::symbolize::{self, Category, CrateId, NameBook, OriginRules, Request, Resolved, Shortfall};
use crate::unwind::{ImageIndex, LoadedImage, RawFrame, Recording};

/// The code tables, as far as the rest needs them.
pub(super) struct Code {
    /// The library of each image.
    pub(super) libraries: Vec<LibraryId>,
    /// The innermost node of each raw stack.
    pub(super) stacks: Vec<StackId>,
    /// Where the names of each image came from.
    pub(super) symbols: Vec<SymbolStatus>,
}

impl Code {
    /// Fills the code tables of `builder`.
    pub(super) fn new(
        recording: &Recording,
        origins: &OriginRules,
        names: &Names,
        builder: &mut ProfileBuilder,
    ) -> Self {
        let symbols: Vec<SymbolStatus> =
            (0..recording.images.len()).map(|index| names.status(recording, index)).collect();
        let libraries: Vec<LibraryId> = recording
            .images
            .iter()
            .zip(&symbols)
            .map(|(loaded, status)| add_library(loaded, *status, builder))
            .collect();
        let origins = Origins::new(recording, &names.of_image, origins);
        let mut naming = Naming { recording, origins: &origins, names, libraries: &libraries, builder };
        let frames: Vec<Vec<FrameId>> = recording.frames.iter().map(|frame| naming.frames(*frame)).collect();
        let mut stacks: Vec<StackId> = Vec::with_capacity(recording.stacks.len());
        for (prefix, frame) in &recording.stacks {
            let prefix = prefix.map(|prefix| stacks[prefix as usize]);
            let innermost =
                frames[*frame as usize].iter().fold(prefix, |node, frame| Some(builder.stack(node, *frame)));
            stacks.push(innermost.expect("each raw frame has at least one frame"));
        }
        Self { libraries, stacks, symbols }
    }
}

/// The names of all addresses of a recording.
pub(super) struct Names {
    /// For each image its addresses in order, each with its names.
    of_image: Vec<Vec<(u64, Resolved)>>,
    /// Why debug information of each image was not used that is there.
    pub(super) shortfalls: Vec<Option<Shortfall>>,
}

impl Names {
    /// Looks up those that `book` has not.
    pub(super) fn resolve(recording: &Recording, book: NameBook, progress: &(dyn Fn(usize, usize) + Sync)) -> Self {
        let mut svmas: Vec<Vec<u64>> = vec![Vec::new(); recording.images.len()];
        for frame in &recording.frames {
            if let RawFrame::Code { image, svma } = frame {
                svmas[*image].push(*svma);
            }
        }
        let mut requests = Vec::new();
        let mut asked: Vec<ImageIndex> = Vec::new();
        for (index, mut svmas) in svmas.into_iter().enumerate() {
            if let Ok(image) = &recording.images[index].image
                && !svmas.is_empty()
            {
                svmas.sort_unstable();
                requests.push(Request { image: Arc::clone(image), svmas });
                asked.push(index);
            }
        }
        let resolved = book.finish(&requests, progress);
        let mut of_image = vec![Vec::new(); recording.images.len()];
        let mut shortfalls = vec![None; recording.images.len()];
        for ((index, request), answers) in asked.into_iter().zip(requests).zip(resolved) {
            of_image[index] = request.svmas.into_iter().zip(answers.resolved).collect();
            shortfalls[index] = answers.shortfall;
        }
        Self { of_image, shortfalls }
    }

    /// The names at an address, and its row.
    fn at(&self, image: ImageIndex, svma: u64) -> Option<(usize, &Resolved)> {
        let names = &self.of_image[image];
        names.binary_search_by_key(&svma, |(svma, _)| *svma).ok().map(|row| (row, &names[row].1))
    }

    fn status(&self, recording: &Recording, index: ImageIndex) -> SymbolStatus {
        let Ok(image) = &recording.images[index].image else { return SymbolStatus::Unavailable };
        let names = &self.of_image[index];
        if names.iter().any(|(_, names)| names.frames.iter().any(|frame| frame.line.is_some())) {
            SymbolStatus::DebugInfo
        } else if image.has_debug_info() && names.iter().all(|(_, names)| is_start_code(names)) {
            // Nothing was seen that could have had a line.
            SymbolStatus::DebugInfo
        } else if names.is_empty() {
            if image.has_symtab() { SymbolStatus::SymbolTable } else { SymbolStatus::Unknown }
        } else if image.has_symtab() || names.iter().all(|(_, names)| names.named) {
            SymbolStatus::SymbolTable
        } else {
            SymbolStatus::Stripped
        }
    }
}

/// Whether it is code that the linker or the compiler adds around a program, which has no lines in any.
fn is_start_code(names: &Resolved) -> bool {
    names.frames.iter().all(|frame| matches!(&*frame.name, "_start" | "_init" | "_fini" | "main"))
}

fn add_library(loaded: &LoadedImage, symbols: SymbolStatus, builder: &mut ProfileBuilder) -> LibraryId {
    let path = loaded.path.to_string_lossy();
    let path_id = builder.string(&path);
    let name = builder.string(&file_name(loaded));
    let build_id = loaded.image.as_ref().ok().and_then(|image| image.build_id());
    let code_id = build_id.map(|id| builder.string(&id.to_string()));
    let breakpad_id = builder.string(&build_id.map(BuildId::breakpad_id).unwrap_or_default());
    let arch = builder.string(std::env::consts::ARCH);
    builder.add_library(Library {
        name,
        path: path_id,
        debug_name: name,
        debug_path: path_id,
        code_id,
        breakpad_id,
        arch,
        symbols,
    })
}

/// The name that people know a file with code by.
pub(super) fn file_name(loaded: &LoadedImage) -> String {
    loaded.path.file_name().unwrap_or(loaded.path.as_os_str()).to_string_lossy().into_owned()
}

/// What the profile's addresses in a file are relative to.
pub(super) fn base_svma(loaded: &LoadedImage) -> u64 {
    loaded.image.as_ref().map_or(0, |image| image.base_svma())
}

/// Turns raw frames into frames of the profile.
struct Naming<'a> {
    recording: &'a Recording,
    origins: &'a Origins,
    names: &'a Names,
    libraries: &'a [LibraryId],
    builder: &'a mut ProfileBuilder,
}

impl Naming<'_> {
    /// The frames of one raw frame, outermost first: several where functions were inlined.
    fn frames(&mut self, raw: RawFrame) -> Vec<FrameId> {
        match raw {
            RawFrame::Code { image, svma } => self.code_frames(image, svma),
            RawFrame::Anonymous { avma } => {
                let function = self.function_named("[code in memory, of no file]", FunctionKind::Unsymbolized);
                vec![self.builder.frame(Frame {
                    address: Some(avma),
                    category: Some(StandardCategory::Jit.id()),
                    ..Frame::of(function)
                })]
            }
            RawFrame::Kernel { syscall } => {
                let name = format!("[kernel] {}", arch::syscall_label(syscall));
                let function = self.function_named(&name, FunctionKind::Kernel);
                vec![self.special_frame(function, StandardCategory::Kernel)]
            }
            RawFrame::Cut(reason) => {
                let function = self.function_named(reason.label(), FunctionKind::Cut);
                vec![self.special_frame(function, StandardCategory::Other)]
            }
            RawFrame::Unsampled => {
                let function = self.function_named("[not sampled]", FunctionKind::Unsampled);
                vec![self.special_frame(function, StandardCategory::Other)]
            }
        }
    }

    fn function_named(&mut self, name: &str, kind: FunctionKind) -> traceview_core::model::FunctionId {
        let name = self.builder.string(name);
        self.builder.function(Function { kind, ..Function::named(name) })
    }

    fn special_frame(&mut self, function: traceview_core::model::FunctionId, category: StandardCategory) -> FrameId {
        self.builder.frame(Frame { category: Some(category.id()), ..Frame::of(function) })
    }

    fn code_frames(&mut self, image: ImageIndex, svma: u64) -> Vec<FrameId> {
        let library = self.libraries[image];
        let loaded = &self.recording.images[image];
        let base = base_svma(loaded);
        let address = svma.wrapping_sub(base);
        let Some((row, resolved)) = self.names.at(image, svma) else {
            let name = self.builder.string(&format!("{}+{svma:#x}", file_name(loaded)));
            let resource = Some(self.resource(image, None));
            let function =
                self.builder.function(Function { resource, kind: FunctionKind::Unsymbolized, ..Function::named(name) });
            let category = Some(StandardCategory::Other.id());
            let library = Some(library);
            return vec![self.builder.frame(Frame {
                library,
                address: Some(address),
                category,
                ..Frame::of(function)
            })];
        };
        let native_symbol = resolved.symbol.as_ref().map(|symbol| {
            let name = self.builder.string(&symbol.name);
            self.builder.native_symbol(NativeSymbol {
                library,
                address: symbol.svma.wrapping_sub(base),
                name,
                size: (symbol.size > 0).then_some(symbol.size),
            })
        });
        let mut frames = Vec::with_capacity(resolved.frames.len());
        for (depth, frame) in resolved.frames.iter().enumerate() {
            let origin = self.origins.at(image, row, depth);
            let resource = Some(self.resource(image, origin.crate_id.as_ref()));
            let krate = origin.crate_id.as_ref().map(|id| id.name.clone());
            let crate_id = origin.crate_id.as_ref().map(|id| {
                let name = self.builder.string(&id.name);
                let version = id.version.as_ref().map(|version| self.builder.string(version));
                self.builder.add_crate(Crate { name, version })
            });
            let (name, full_name) = names_of(frame, krate.as_deref());
            let name = self.builder.string(&name);
            let full_name = full_name.map(|name| self.builder.string(&name));
            let source = frame.file.as_ref().map(|file| {
                let path = self.builder.string(file);
                self.builder.source(Source::at(path))
            });
            let kind = if resolved.named { FunctionKind::Native } else { FunctionKind::Unsymbolized };
            let function = self.builder.function(Function {
                full_name,
                resource,
                source,
                origin: crate_id,
                kind,
                ..Function::named(name)
            });
            frames.push(self.builder.frame(Frame {
                library: Some(library),
                address: Some(address),
                inline_depth: u16::try_from(depth).unwrap_or(u16::MAX),
                category: Some(standard(origin.category).id()),
                native_symbol,
                line: frame.line,
                column: frame.column,
                ..Frame::of(function)
            }));
        }
        frames
    }

    /// What other tools show a function under: its crate, or else its library.
    fn resource(&mut self, image: ImageIndex, krate: Option<&CrateId>) -> ResourceId {
        let name = match krate {
            Some(CrateId { name, version: Some(version) }) => format!("{name} {version}"),
            Some(CrateId { name, version: None }) => name.clone(),
            None => file_name(&self.recording.images[image]),
        };
        let name = self.builder.string(&name);
        let library = Some(self.libraries[image]);
        self.builder.resource(Resource { name, kind: ResourceKind::Library, library, host: None })
    }
}

/// The readable and the full name of a function of the crate `krate`.
fn names_of(frame: &symbolize::Frame, krate: Option<&str>) -> (Arc<str>, Option<Arc<str>>) {
    let with_module = || match (&frame.linkage_name, &frame.file, krate) {
        (None, Some(file), Some(krate)) => symbolize::module_path::with_module(&frame.name, file, krate),
        _ => None,
    };
    match with_module() {
        Some(name) => (name.into(), None),
        None => (Arc::clone(&frame.name), frame.linkage_name.clone()),
    }
}

fn standard(category: Category) -> StandardCategory {
    match category {
        Category::Workspace => StandardCategory::Workspace,
        Category::Dependency => StandardCategory::Dependency,
        Category::Std => StandardCategory::Std,
        Category::System => StandardCategory::System,
        Category::Kernel => StandardCategory::Kernel,
        Category::Jit => StandardCategory::Jit,
        Category::Other => StandardCategory::Other,
    }
}
