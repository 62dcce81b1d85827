//! What a picture is to look like: the flags that `open --screenshot` and `export` share.

use clap::{Args, ValueEnum};

/// A sort of picture file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PictureKind {
    /// Scalable, its text is text.
    Svg,
    /// Pixels.
    Png,
}

/// How a picture is to look, as typed.
#[derive(Clone, Debug, Args)]
pub struct PictureFlags {
    /// In a screenshot, which tab is shown: functions (the default), call-tree, flame-graph or slices. In an export,
    /// what is drawn: flame-chart (the default), flame-graph (the default where samples have no times) or timeline
    #[arg(long, value_name = "NAME")]
    pub panel: Option<String>,
    /// Its size in points
    #[arg(long, value_name = "WxH", value_parser = parse_size, default_value = "1280x800")]
    pub size: (u16, u16),
    /// Pixels for each point
    #[arg(long, value_name = "N", value_parser = parse_scale, default_value = "1")]
    pub scale: f32,
    /// Its colours
    #[arg(long, value_enum, default_value = "dark")]
    pub theme: PictureTheme,
}

/// The colours of a picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum PictureTheme {
    /// Light text on a dark ground
    Dark,
    /// Dark text on a light ground
    Light,
}

/// How a picture is to look.
#[derive(Clone, PartialEq, Debug)]
pub struct PicturePlan {
    /// Width and height in points.
    pub size: (u16, u16),
    /// Pixels for each point.
    pub scale: f32,
    /// Light text on a dark ground.
    pub dark: bool,
    /// The panel; `None`: the usual one.
    pub panel: Option<String>,
}

impl PictureKind {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Svg, Self::Png];

    /// Its name on the command line, and with a dot the ending of its files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Svg => "svg",
            Self::Png => "png",
        }
    }

    /// What it is called in help.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Svg => "SVG picture",
            Self::Png => "PNG picture",
        }
    }

    /// The ending of its files.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Svg => ".svg",
            Self::Png => ".png",
        }
    }
}

impl From<&PictureFlags> for PicturePlan {
    fn from(flags: &PictureFlags) -> Self {
        Self {
            size: flags.size,
            scale: flags.scale,
            dark: flags.theme == PictureTheme::Dark,
            panel: flags.panel.clone(),
        }
    }
}

/// More pixels than this in one direction is a slip of the finger, and much memory.
const MOST_POINTS: u16 = 8192;

fn parse_size(text: &str) -> Result<(u16, u16), String> {
    let wanted = || format!("give width and height in points, such as 1280x800, at most {MOST_POINTS} each");
    let (width, height) = text.split_once('x').ok_or_else(wanted)?;
    let parse = |number: &str| number.parse().ok().filter(|points| (16..=MOST_POINTS).contains(points));
    parse(width).zip(parse(height)).ok_or_else(wanted)
}

fn parse_scale(text: &str) -> Result<f32, String> {
    let scale = text.parse().ok().filter(|scale| (0.5..=4.0).contains(scale));
    scale.ok_or_else(|| "give a number from 0.5 to 4".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_two_numbers_of_some_sense() {
        assert_eq!(parse_size("1280x800"), Ok((1280, 800)));
        for wrong in ["1280", "x", "0x0", "1280x", "99999x10", "10x-10", "1280×800"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn scales_are_those_of_screens() {
        assert_eq!(parse_scale("2"), Ok(2.0));
        for wrong in ["0", "5", "NaN", "big", "-1"] {
            assert!(parse_scale(wrong).is_err(), "{wrong}");
        }
    }
}
