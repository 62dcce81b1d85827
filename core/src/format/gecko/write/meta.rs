//! `meta`: what the file says about itself.

use serde::Serialize;

use super::layout::Layout;
use super::{Out, Written, extension, kept, millis, schema};
use crate::format::gecko::VERSION;
use crate::format::gecko::names::{COLORS, word};
use crate::model::{Color, StringId, Time};

pub(super) fn write(json: &mut Out<'_>, layout: &Layout<'_>) -> Written {
    let meta = &layout.profile.meta;
    // The version stands first, so that whoever looks at the first bytes knows what this is.
    json.field("preprocessedProfileVersion", &VERSION)?;
    default(json, layout, "version", &24)?;
    json.field("product", &meta.name)?;
    json.field("importedFrom", &meta.recorder)?;
    json.field("startTime", &meta.start_unix_ns.map_or(0.0, |start| millis(Time(start))))?;
    if let Some(start) = meta.start_monotonic_ns {
        json.field("startTimeAsClockMonotonicNanosecondsSinceBoot", &start)?;
    }
    json.field("profilingStartTime", &millis(layout.extent.start))?;
    json.field("profilingEndTime", &millis(layout.extent.end))?;
    json.field("interval", &layout.interval.as_millis_f64())?;
    json.object(Some("sampleUnits"), |json| {
        for unit in ["time", "eventDelay"] {
            match layout.kept(&format!("meta.sampleUnits.{unit}")) {
                Some(kept) => json.raw(unit, kept)?,
                None => json.field(unit, "ms")?,
            }
        }
        json.field("threadCPUDelta", "ns")
    })?;
    default(json, layout, "processType", &0)?;
    default(json, layout, "stackwalk", &1)?;
    let mut written = vec!["version", "processType", "stackwalk"];
    if !layout.of_firefox {
        // Without the first, other tools ask symbol servers for what stands here already.
        let own = ["symbolicated", "keepProfileThreadOrder", "usesOnlyOneStackType", "sourceCodeIsNotOnSearchfox"];
        own.into_iter().try_for_each(|key| default(json, layout, key, &true))?;
        written.extend(own);
    }
    if !meta.command_line.is_empty() {
        json.field("arguments", &meta.command_line.join(" "))?;
    }
    machine(json, layout)?;
    written.push("platform");
    kept::meta(json, layout, &written)?;
    json.array("categories", |json| categories(json, layout))?;
    json.array("markerSchema", |json| schema::write(json, layout))?;
    json.column("extra", extra(layout))?;
    json.field("traceview", &extension::extension(layout))
}

/// A key that the file which the profile was read from can have had.
fn default(json: &mut Out<'_>, layout: &Layout<'_>, key: &str, value: &(impl Serialize + ?Sized)) -> Written {
    match layout.kept(&format!("meta.{key}")) {
        Some(kept) => json.raw(key, kept),
        None => json.field(key, value),
    }
}

fn machine(json: &mut Out<'_>, layout: &Layout<'_>) -> Written {
    let machine = &layout.profile.meta.machine;
    let texts = [("oscpu", &machine.os), ("abi", &machine.arch), ("CPUName", &machine.cpu_name)];
    for (key, text) in texts {
        if let Some(text) = text {
            json.field(key, text)?;
        }
    }
    if let Some(os) = &machine.os {
        default(json, layout, "platform", os.split(' ').next().unwrap_or_default())?;
    } else if let Some(kept) = layout.kept("meta.platform") {
        json.raw("platform", kept)?;
    }
    let numbers = [
        ("logicalCPUs", machine.logical_cpus.map(u64::from)),
        ("physicalCPUs", machine.physical_cpus.map(u64::from)),
        ("mainMemory", machine.memory),
    ];
    for (key, number) in numbers {
        if let Some(number) = number {
            json.field(key, &number)?;
        }
    }
    Ok(())
}

fn categories(json: &mut Out<'_>, layout: &Layout<'_>) -> Written {
    let profile = layout.profile;
    let mut one = |name: &str, color: Color, subcategories: &[StringId]| {
        json.object(None, |json| {
            json.field("name", name)?;
            json.field("color", word(&COLORS, &color))?;
            // Row 0 means "none", under this name.
            let others = subcategories.iter().skip(1).map(|id| profile.string(*id));
            json.column("subcategories", std::iter::once("Other").chain(others))
        })
    };
    for category in &profile.categories[..layout.own_categories] {
        one(profile.string(category.name), category.color, &category.subcategories)?;
    }
    layout.added_categories.iter().try_for_each(|(name, color)| one(name, *color, &[]))
}

/// A section of the panel that describes a profile.
#[derive(Serialize)]
struct Section {
    label: &'static str,
    entries: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    label: String,
    format: &'static str,
    value: serde_json::Value,
}

/// A section of the file that the profile was read from, or one of ours.
#[derive(Serialize)]
#[serde(untagged)]
enum AnySection<'a> {
    Kept(&'a serde_json::value::RawValue),
    Own(Section),
}

fn extra<'a>(layout: &Layout<'a>) -> Vec<AnySection<'a>> {
    let kept = layout.kept("meta.extra").and_then(|json| serde_json::from_str::<Vec<_>>(json).ok());
    let kept = kept.unwrap_or_default().into_iter().map(AnySection::Kept);
    kept.chain(own_extra(layout).into_iter().map(AnySection::Own)).collect()
}

fn own_extra(layout: &Layout<'_>) -> Vec<Section> {
    let meta = &layout.profile.meta;
    let mut recording = Vec::new();
    let mut entry = |label: &str, format, value: serde_json::Value| {
        recording.push(Entry { label: label.to_owned(), format, value });
    };
    if let Some(rustc) = &meta.rustc {
        entry("Compiler", "string", rustc.as_str().into());
    }
    if let Some(quality) = meta.quality {
        entry("Ticks", "integer", quality.ticks.into());
        entry("Missed ticks", "integer", quality.missed_ticks.into());
        entry("Lost samples", "integer", quality.lost_samples.into());
        entry("Threads stopped", "duration", quality.stopped.as_millis_f64().into());
        entry("CPU time of the recorder", "duration", quality.recorder_cpu.as_millis_f64().into());
        for (what, spread) in [("Stop for a sample", quality.stops), ("Lateness of a tick", quality.lateness)] {
            if let Some(spread) = spread {
                entry(&format!("{what}, median"), "duration", spread.median.as_millis_f64().into());
                entry(&format!("{what}, 99th percentile"), "duration", spread.p99.as_millis_f64().into());
            }
        }
    }
    for (label, value) in &meta.extra {
        entry(label, "string", value.as_str().into());
    }
    let warnings = meta.warnings.iter().map(|warning| Entry {
        label: warning.code.clone(),
        format: "string",
        value: format!("{} ({}×)", warning.message, warning.count).into(),
    });
    let warnings = Section { label: "Warnings", entries: warnings.collect() };
    let sections = [Section { label: "Recording", entries: recording }, warnings];
    sections.into_iter().filter(|section| !section.entries.is_empty()).collect()
}
