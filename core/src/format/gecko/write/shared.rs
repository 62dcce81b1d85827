//! The shared tables: strings, functions, frames, stacks and what belongs to them; and the libraries.

use super::layout::{Layout, row};
use super::{Out, Written};
use crate::format::gecko::names::{RESOURCE_KINDS, word};
use crate::model::{Id, Profile, ScriptFrameId, StringId};

/// The largest address that tools keep (a signed 32-bit number).
const MAX_ADDRESS: u64 = i32::MAX as u64;

pub(super) fn libraries(json: &mut Out<'_>, profile: &Profile) -> Written {
    for library in &profile.libraries {
        json.object(None, |json| {
            let mut text = |key, id: StringId| json.field(key, profile.string(id));
            text("arch", library.arch)?;
            text("name", library.name)?;
            text("path", library.path)?;
            text("debugName", library.debug_name)?;
            text("debugPath", library.debug_path)?;
            text("breakpadId", library.breakpad_id)?;
            json.field("codeId", &library.code_id.map(|id| profile.string(id)))
        })?;
    }
    Ok(())
}

pub(super) fn write(json: &mut Out<'_>, layout: &Layout<'_>) -> Written {
    let profile = layout.profile;
    json.object(Some("stackTable"), |json| {
        let own = profile.stacks.len();
        let added = &layout.added_stacks;
        let frames = profile.stacks.frame.iter().map(|id| row(id.index()));
        json.column("frame", frames.chain(added.iter().map(|(_, frame)| *frame)))?;
        let prefixes = profile.stacks.prefix.iter().copied().chain(added.iter().map(|(prefix, _)| *prefix));
        json.column("prefix", prefixes.map(index))?;
        json.field("length", &(own + added.len()))
    })?;
    json.object(Some("frameTable"), |json| frames(json, layout))?;
    json.object(Some("funcTable"), |json| functions(json, layout))?;
    json.object(Some("resourceTable"), |json| {
        let resources = &profile.resources;
        json.column("lib", resources.iter().map(|resource| index(resource.library)))?;
        json.column("name", resources.iter().map(|resource| row(resource.name.index())))?;
        json.column("host", resources.iter().map(|resource| index(resource.host)))?;
        json.column("type", resources.iter().map(|resource| word(&RESOURCE_KINDS, &resource.kind)))?;
        json.field("length", &resources.len())
    })?;
    json.object(Some("nativeSymbols"), |json| {
        let symbols = &profile.native_symbols;
        json.column("libIndex", symbols.iter().map(|symbol| row(symbol.library.index())))?;
        json.column("address", symbols.iter().map(|symbol| symbol.address))?;
        json.column("name", symbols.iter().map(|symbol| row(symbol.name.index())))?;
        json.column("functionSize", symbols.iter().map(|symbol| symbol.size))?;
        json.field("length", &symbols.len())
    })?;
    json.object(Some("sources"), |json| {
        let sources = &profile.sources;
        let text = |id: Option<StringId>| id.map(|id| profile.string(id));
        json.column("filename", sources.iter().map(|source| row(source.path.index())))?;
        json.column("id", sources.iter().map(|source| text(source.id)))?;
        json.column("startLine", sources.iter().map(|source| source.start_line))?;
        json.column("startColumn", sources.iter().map(|source| source.start_column))?;
        json.column("sourceMapURL", sources.iter().map(|source| index(source.map_url)))?;
        json.column("content", sources.iter().map(|source| text(source.content)))?;
        json.field("length", &sources.len())
    })?;
    json.object(Some("sourceLocationTable"), |json| {
        let locations = &profile.source_locations;
        json.column("source", locations.iter().map(|location| row(location.source.index())))?;
        json.column("line", locations.iter().map(|location| location.line))?;
        json.column("column", locations.iter().map(|location| location.column))?;
        json.field("length", &locations.len())
    })?;
    json.column("stringArray", profile.strings.iter().chain(layout.added_strings.iter().map(String::as_str)))
}

fn functions(json: &mut Out<'_>, layout: &Layout<'_>) -> Written {
    let functions = &layout.functions;
    json.column("name", functions.iter().map(|function| function.name))?;
    json.column("isJS", functions.iter().map(|function| function.script))?;
    json.column("relevantForJS", functions.iter().map(|function| function.relevant_for_script))?;
    json.column("resource", functions.iter().map(|function| function.resource.map_or(-1, i64::from)))?;
    json.column("source", functions.iter().map(|function| function.source))?;
    json.column("lineNumber", functions.iter().map(|function| function.line))?;
    json.column("columnNumber", functions.iter().map(|function| function.column))?;
    json.column("originalLocation", functions.iter().map(|function| index(function.original_location)))?;
    json.field("length", &functions.len())
}

fn frames(json: &mut Out<'_>, layout: &Layout<'_>) -> Written {
    let frames = &layout.profile.frames;
    let added = &layout.added_frames;
    let blank = || added.iter().map(|_| None);
    let own = frames.function.iter().map(|id| layout.function_rows[id.index()]);
    json.column("func", own.chain(added.iter().copied()))?;
    let addresses = frames.address.iter().map(|address| file_address(*address).map_or(-1, i64::from));
    json.column("address", addresses.chain(added.iter().map(|_| -1)))?;
    let depths = frames.inline_depth.iter().map(|depth| file_inline_depth(*depth));
    json.column("inlineDepth", depths.chain(added.iter().map(|_| 0)))?;
    let categories = frames.category.iter().map(|category| category.map(|id| layout.category(id)));
    json.column("category", categories.chain(added.iter().map(|_| Some(layout.idle()))))?;
    let subcategories = (0..frames.len()).map(|frame| file_subcategory(layout, frame));
    json.column("subcategory", subcategories.chain(added.iter().map(|_| 0)))?;
    json.column("nativeSymbol", frames.native_symbol.iter().copied().map(index).chain(blank()))?;
    let script = |id: &Option<ScriptFrameId>| id.map(|id| layout.profile.script_frames[id.index()]);
    let windows = frames.script.iter().map(|id| script(id).map_or(0, |script| script.inner_window));
    json.column("innerWindowID", windows.chain(added.iter().map(|_| 0)))?;
    json.column("line", frames.line.iter().copied().chain(blank()))?;
    json.column("column", frames.column.iter().copied().chain(blank()))?;
    let originals = frames.script.iter().map(|id| index(script(id).and_then(|script| script.original_location)));
    json.column("originalLocation", originals.chain(blank()))?;
    json.field("length", &(frames.len() + added.len()))
}

/// An address, where the file can hold it.
pub(super) fn file_address(address: Option<u64>) -> Option<u32> {
    address.filter(|address| *address <= MAX_ADDRESS).and_then(|address| u32::try_from(address).ok())
}

/// Inline depths are stored in bytes.
pub(super) fn file_inline_depth(depth: u16) -> u8 {
    u8::try_from(depth).unwrap_or(u8::MAX)
}

/// The subcategory of a frame, "Other" if its category is not in the file.
pub(super) fn file_subcategory(layout: &Layout<'_>, frame: usize) -> u16 {
    let frames = &layout.profile.frames;
    let kept = frames.category[frame].is_some_and(|category| category.index() < layout.own_categories);
    if kept { frames.subcategory[frame] } else { 0 }
}

/// An optional row as the file's number or null.
pub(super) fn index<I: Id>(id: Option<I>) -> Option<u32> {
    id.map(|id| row(id.index()))
}
