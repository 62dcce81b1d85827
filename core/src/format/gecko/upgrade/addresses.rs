//! 38: addresses of frames lie inside the call instruction; before, those of callers were return addresses.
//!
//! A frame can stand for both: where a sample was taken, and where a call returns to. It is doubled then, and so are the
//! stacks that end in it.

use super::super::read::Repairs;
use super::super::schema::{Address, File, FrameTable, Row, StackTable, Thread, Wide};
use super::{Fields, fields_with, threads_mut};

/// See the module.
pub(super) fn return_addresses_to_calls(file: &mut File<'_>, _repairs: &mut Repairs) {
    for thread in threads_mut(file) {
        let uses = Uses::of(thread);
        let (Some(stacks), Some(frames)) = (&mut thread.stack_table, &mut thread.frame_table) else { continue };
        let moved = uses.move_frames(stacks, frames);
        if moved.is_empty() {
            continue;
        }
        let moved = uses.move_stacks(stacks, &moved);
        moved.apply(thread);
    }
}

/// How each stack is used.
struct Uses {
    /// A sample was taken there.
    sampled: Vec<bool>,
    /// It was walked: the innermost frame is a return address too.
    walked: Vec<bool>,
    /// Another one was called from it.
    calls: Vec<bool>,
}

/// The new rows of stacks.
struct Moved {
    sampled: Vec<Row>,
    walked: Vec<Row>,
}

impl Uses {
    fn of(thread: &Thread<'_>) -> Self {
        let count = thread.stack_table.as_ref().and_then(|stacks| stacks.frame.as_ref()).map_or(0, Vec::len);
        let mut uses = Self { sampled: vec![false; count], walked: vec![false; count], calls: vec![false; count] };
        let mark = |column: &mut [bool], row: Row| {
            if let Some(used) = row.get().and_then(|row| column.get_mut(row as usize)) {
                *used = true;
            }
        };
        let samples = thread.samples.iter().flat_map(|samples| samples.stack.iter().flatten());
        samples.for_each(|stack| mark(&mut uses.sampled, *stack));
        let allocations = thread.js_allocations.iter().chain(&thread.native_allocations);
        let allocations = allocations.flat_map(|allocations| allocations.stack.iter().flatten());
        allocations.for_each(|stack| mark(&mut uses.walked, *stack));
        for data in thread.markers.iter().flat_map(|markers| markers.data.iter().flatten()) {
            if data.may_hold("\"cause\"") {
                let cause = data.fields().and_then(|fields| cause_stack(&fields));
                cause.into_iter().for_each(|stack| mark(&mut uses.walked, stack));
            }
        }
        let prefixes = thread.stack_table.as_ref().and_then(|stacks| stacks.prefix.as_ref());
        prefixes.into_iter().flatten().for_each(|prefix| mark(&mut uses.calls, *prefix));
        uses
    }

    /// Moves the addresses of frames. Gives the row of each frame where a sample was taken; nothing if none has an address.
    fn move_frames(&self, stacks: &StackTable<'_>, frames: &mut FrameTable<'_>) -> Vec<Row> {
        let Some(addresses) = frames.address.clone() else { return Vec::new() };
        let count = addresses.len();
        let (mut sampled, mut returns) = (vec![false; count], vec![false; count]);
        for (stack, frame) in stacks.frame.iter().flatten().enumerate() {
            let Some(frame) = frame.get().map(|row| row as usize).filter(|row| *row < count) else { continue };
            sampled[frame] |= self.sampled[stack];
            returns[frame] |= self.walked[stack] || self.calls[stack];
        }
        let known = |frame: usize| addresses[frame].0 >= 0;
        if !(0..count).any(|frame| known(frame) && (sampled[frame] || returns[frame])) {
            return Vec::new();
        }
        let mut of_sample: Vec<Row> = (0..count).map(|row| u32::try_from(row).map_or(Row::BAD, Row)).collect();
        for frame in (0..count).filter(|frame| returns[*frame] && known(*frame)) {
            if sampled[frame] {
                of_sample[frame] = double(frames, frame);
            }
            if let Some(address) = frames.address.as_mut().and_then(|column| column.get_mut(frame)) {
                *address = Address(addresses[frame].0 - 1).max_none();
            }
        }
        of_sample
    }

    /// Makes the stacks anew.
    fn move_stacks(&self, stacks: &mut StackTable<'_>, of_sample: &[Row]) -> Moved {
        let old = std::mem::take(stacks);
        let (frames, prefixes) = (old.frame.unwrap_or_default(), old.prefix.unwrap_or_default());
        let count = frames.len();
        let mut moved = Moved { sampled: vec![Row::BAD; count], walked: vec![Row::BAD; count] };
        let (mut new_frames, mut new_prefixes) = (Vec::with_capacity(count), Vec::with_capacity(count));
        let (mut categories, mut subcategories) = (Vec::new(), Vec::new());
        let of = |column: &Option<Vec<Row>>, row: usize| column.as_ref().and_then(|column| column.get(row)).copied();
        for (row, frame) in frames.into_iter().enumerate() {
            let prefix = prefixes.get(row).copied().unwrap_or_default();
            let prefix = match prefix.get() {
                // Callers stand before their callees; what does not is seen to be wrong later.
                Some(caller) if (caller as usize) < row => moved.walked[caller as usize],
                Some(_) => Row::BAD,
                None => prefix,
            };
            let mut add = |frame: Row| {
                new_frames.push(frame);
                new_prefixes.push(prefix);
                categories.push(of(&old.category, row).unwrap_or_default());
                subcategories.push(of(&old.subcategory, row).unwrap_or_default());
                u32::try_from(new_frames.len() - 1).map_or(Row::BAD, Row)
            };
            if self.calls[row] || self.walked[row] {
                moved.walked[row] = add(frame);
            }
            if self.sampled[row] {
                let of_sample = frame.get().and_then(|frame| of_sample.get(frame as usize)).copied();
                moved.sampled[row] = add(of_sample.unwrap_or(frame));
            }
        }
        stacks.length = Some(Wide(Some(new_frames.len() as u64)));
        stacks.frame = Some(new_frames);
        stacks.prefix = Some(new_prefixes);
        stacks.category = old.category.is_some().then_some(categories);
        stacks.subcategory = old.subcategory.is_some().then_some(subcategories);
        moved
    }
}

impl Moved {
    fn apply(&self, thread: &mut Thread<'_>) {
        let new = |column: &[Row], row: Row| match row.get() {
            Some(number) => column.get(number as usize).copied().unwrap_or(row),
            None => row,
        };
        let samples = thread.samples.iter_mut().flat_map(|samples| samples.stack.iter_mut().flatten());
        samples.for_each(|stack| *stack = new(&self.sampled, *stack));
        let allocations = thread.js_allocations.iter_mut().chain(&mut thread.native_allocations);
        let allocations = allocations.flat_map(|allocations| allocations.stack.iter_mut().flatten());
        allocations.for_each(|stack| *stack = new(&self.walked, *stack));
        for fields in fields_with(thread, "\"cause\"") {
            let stack = cause_stack(fields).map(|stack| new(&self.walked, stack));
            let cause = fields.get("cause").map(str::to_owned);
            if let (Some(stack), Some(cause)) = (stack.and_then(Row::get), cause)
                && let Ok(mut cause) = serde_json::from_str::<Fields<'_>>(&cause)
            {
                cause.set("stack", &stack);
                fields.set("cause", &cause);
            }
        }
    }
}

impl Address {
    /// The address, none if it is before the start.
    fn max_none(self) -> Self {
        if self.0 < 0 { Self::NONE } else { self }
    }
}

fn cause_stack(fields: &Fields<'_>) -> Option<Row> {
    serde_json::from_str::<super::super::schema::Cause<'_>>(fields.get("cause")?).ok().map(|cause| cause.stack)
}

/// Adds a frame that is equal to another one.
fn double(frames: &mut FrameTable<'_>, frame: usize) -> Row {
    let count = frames.func.as_ref().map_or(0, Vec::len);
    let rows = [
        &mut frames.func,
        &mut frames.lib,
        &mut frames.inline_depth,
        &mut frames.category,
        &mut frames.subcategory,
        &mut frames.native_symbol,
        &mut frames.line,
        &mut frames.column,
        &mut frames.original_location,
        &mut frames.implementation,
    ];
    for column in rows.into_iter().flatten() {
        again(column, frame, count);
    }
    frames.address.iter_mut().for_each(|column| again(column, frame, count));
    frames.inner_window_id.iter_mut().for_each(|column| again(column, frame, count));
    if let Some(Wide(Some(length))) = &mut frames.length {
        *length = length.saturating_add(1);
    }
    u32::try_from(count).map_or(Row::BAD, Row)
}

fn again<T: Copy + Default>(column: &mut Vec<T>, row: usize, at: usize) {
    let value = column.get(row).copied().unwrap_or_default();
    // Columns that are too short stay so.
    if column.len() == at {
        column.push(value);
    }
}
