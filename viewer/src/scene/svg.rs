//! A scene as an SVG file: a picture that scales, and whose text stays text.

use std::io::{self, Write};

use egui::Color32;

use super::{Align, Label, Scene};

/// How wide a usual character is, relative to the font size: rather too wide, as fonts differ.
const CHARACTER_WIDTH: f32 = 0.56;
const PADDING: f32 = 3.0;

/// Writes `scene` as an SVG document called `title`. Each label has its full text as a tooltip.
///
/// # Errors
/// What `out` says.
pub fn write_svg(scene: &Scene, title: &str, out: &mut dyn Write) -> io::Result<()> {
    let (width, height) = (scene.size.x, scene.size.y);
    writeln!(
        out,
        r#"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" font-family="Ubuntu, 'DejaVu Sans', Verdana, sans-serif">"#
    )?;
    writeln!(out, "<title>{}</title>", escape(title))?;
    writeln!(out, r#"<rect width="100%" height="100%"{}/>"#, fill(scene.background))?;
    writeln!(out, r#"<g shape-rendering="crispEdges">"#)?;
    for quad in &scene.quads {
        let rect = quad.rect;
        writeln!(
            out,
            r#"<rect x="{}" y="{}" width="{}" height="{}"{}/>"#,
            number(rect.min.x),
            number(rect.min.y),
            number(rect.width()),
            number(rect.height()),
            fill(quad.color)
        )?;
    }
    writeln!(out, "</g>")?;
    for line in &scene.lines {
        let [r, g, b, a] = line.color.to_srgba_unmultiplied();
        writeln!(
            out,
            r#"<line x1="{}" y1="{}" x2="{}" y2="{}" stroke="rgb({r},{g},{b})" stroke-opacity="{}" stroke-width="{}"/>"#,
            number(line.from.x),
            number(line.from.y),
            number(line.to.x),
            number(line.to.y),
            number(f32::from(a) / 255.0),
            number(line.width)
        )?;
    }
    for label in &scene.labels {
        write_label(label, out)?;
    }
    writeln!(out, "</svg>")
}

fn write_label(label: &Label, out: &mut dyn Write) -> io::Result<()> {
    let text = label.shortened(columns(label));
    if text.is_empty() {
        return Ok(());
    }
    let (x, anchor) = match label.align {
        Align::Left => (label.rect.left() + PADDING, "start"),
        Align::Center => (label.rect.center().x, "middle"),
        Align::Right => (label.rect.right() - PADDING, "end"),
    };
    write!(
        out,
        r#"<text x="{}" y="{}" font-size="{}" text-anchor="{anchor}" dominant-baseline="central"{}>{}"#,
        number(x),
        number(label.rect.center().y),
        number(label.size),
        fill(label.color),
        escape(&text)
    )?;
    if *text != *label.text {
        write!(out, "<title>{}</title>", escape(&label.text))?;
    }
    writeln!(out, "</text>")
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a label has few columns")]
fn columns(label: &Label) -> usize {
    let room = label.rect.width() - 2.0 * PADDING;
    (room / (label.size * CHARACTER_WIDTH)).max(0.0) as usize
}

fn fill(color: Color32) -> String {
    let [r, g, b, a] = color.to_srgba_unmultiplied();
    let opacity = if a == 255 { String::new() } else { format!(r#" fill-opacity="{}""#, number(f32::from(a) / 255.0)) };
    format!(r##" fill="#{r:02x}{g:02x}{b:02x}"{opacity}"##)
}

/// At most two digits behind the point: a hundredth of a pixel.
fn number(value: f32) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Names of functions are full of `<` and `&`; those from files can contain anything.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            // XML can't hold these at all.
            '\u{FFFE}' | '\u{FFFF}' => escaped.push('\u{FFFD}'),
            c if c.is_control() => escaped.push(' '),
            c => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use egui::{Rect, pos2, vec2};

    use super::*;

    fn svg(text: &str, width: f32) -> String {
        let mut scene = Scene::new(vec2(200.0, 40.0), Color32::WHITE);
        let rect = Rect::from_min_size(pos2(10.25, 0.0), vec2(width, 18.0));
        scene.quad(rect, Color32::from_rgba_unmultiplied(255, 0, 0, 51));
        scene.label(rect, text, Color32::BLACK);
        let mut out = Vec::new();
        write_svg(&scene, "a & b", &mut out).expect("a Vec takes anything");
        String::from_utf8(out).expect("SVG is text")
    }

    #[test]
    fn names_cannot_break_the_document() {
        let text = svg("<Vec<T> as \"Odd\">::f&g\u{0}\u{1b}", 190.0);
        assert!(text.contains("&lt;Vec&lt;T&gt; as &quot;Odd&quot;&gt;::f&amp;g  </text>"), "{text}");
        assert!(text.contains("<title>a &amp; b</title>"));
        let opened = text.matches('<').count();
        assert_eq!(opened, text.matches('>').count(), "{text}");
    }

    #[test]
    fn long_names_are_shortened_and_kept_whole_in_a_tooltip() {
        let text = svg("alloc::vec::Vec<T>::push", 80.0);
        assert!(text.contains("push<title>alloc::vec::Vec&lt;T&gt;::push</title></text>"), "{text}");
        assert!(!svg("alloc::vec::Vec<T>::push", 4.0).contains("<text"), "no room, no text");
    }

    #[test]
    fn places_and_colours_are_exact() {
        let text = svg("f", 50.5);
        let quad = r##"<rect x="10.25" y="0" width="50.5" height="18" fill="#ff0000" fill-opacity="0.2"/>"##;
        assert!(text.contains(quad), "{text}");
        assert!(text.contains(r##"<text x="13.25" y="9" font-size="12" text-anchor="start""##), "{text}");
        assert_eq!(["1.5", "0", "-2", "0.13"], [1.5, 0.0, -2.0, 0.126].map(number).each_ref().map(String::as_str));
    }
}
