//! What a person does with a mouse and keys.

use egui::{Event, Key, Modifiers, MouseWheelSource, MouseWheelUnit, PointerButton, Pos2, TouchPhase, Vec2};
use egui_kittest::Harness;

pub(crate) fn click<S>(harness: &mut Harness<'_, S>, at: Pos2) {
    click_with(harness, at, PointerButton::Primary, Modifiers::NONE);
}

pub(crate) fn double_click<S>(harness: &mut Harness<'_, S>, at: Pos2) {
    click(harness, at);
    click(harness, at);
}

pub(crate) fn click_with<S>(harness: &mut Harness<'_, S>, at: Pos2, button: PointerButton, modifiers: Modifiers) {
    harness.hover_at(at);
    harness.step();
    for pressed in [true, false] {
        harness.event_modifiers(Event::PointerButton { pos: at, button, pressed, modifiers }, modifiers);
        harness.step();
    }
    harness.run();
}

pub(crate) fn drag<S>(harness: &mut Harness<'_, S>, from: Pos2, to: Pos2) {
    harness.hover_at(from);
    harness.step();
    harness.drag_at(from);
    harness.step();
    for part in 1..=4u8 {
        harness.hover_at(from + (to - from) * (f32::from(part) / 4.0));
        harness.step();
    }
    harness.drop_at(to);
    harness.run();
}

/// Turns the wheel so many points, and waits until that has been smoothed out.
pub(crate) fn turn_wheel<S>(harness: &mut Harness<'_, S>, at: Pos2, delta: Vec2, modifiers: Modifiers) {
    harness.hover_at(at);
    harness.step();
    let (unit, phase, source) = (MouseWheelUnit::Point, TouchPhase::Move, MouseWheelSource::Unknown);
    harness.event_modifiers(Event::MouseWheel { unit, delta, phase, modifiers, source }, modifiers);
    harness.run_steps(40);
}

pub(crate) fn press<S>(harness: &mut Harness<'_, S>, key: Key) {
    press_with(harness, Modifiers::NONE, key);
}

pub(crate) fn press_with<S>(harness: &mut Harness<'_, S>, modifiers: Modifiers, key: Key) {
    harness.key_press_modifiers(modifiers, key);
    harness.run();
}
