//! Keys that a panel with the focus takes for itself.

use egui::{Event, Key, Modifiers, Ui};

/// Takes the presses of `key` with exactly `modifiers` out of this frame's events, so that they mean nothing else; how
/// many there were. (egui's own function also takes keys with further modifiers, such as Alt and an arrow.)
pub fn take_key(ui: &Ui, modifiers: Modifiers, key: Key) -> usize {
    ui.input_mut(|input| {
        let before = input.events.len();
        input.events.retain(|event| match event {
            Event::Key { key: found, pressed: true, modifiers: held, .. } => {
                *found != key || !held.matches_exact(modifiers)
            }
            _ => true,
        });
        before - input.events.len()
    })
}
