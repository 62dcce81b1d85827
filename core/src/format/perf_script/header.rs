//! The comments that `perf script --header` prints first.

use crate::model::Meta;

/// Takes what a comment says into `meta`.
pub(super) fn comment(text: &[u8], meta: &mut Meta) {
    let text = String::from_utf8_lossy(text);
    let Some((key, value)) = text.trim_start_matches('#').split_once(" : ") else { return };
    let (key, value) = (key.trim(), value.trim());
    if value.is_empty() {
        return;
    }
    let value = || value.to_owned();
    match key {
        "captured on" | "cmdline" => {
            // Several outputs in one file: the first says what it is.
            let name = format!("perf {key}");
            if meta.extra.iter().all(|(known, _)| *known != name) {
                meta.extra.push((name, value()));
            }
        }
        "os release" => meta.machine.os = Some(format!("Linux {}", value())),
        "perf version" => meta.recorder = Some(format!("perf {}", value())),
        "arch" => meta.machine.arch = Some(value()),
        "cpudesc" => meta.machine.cpu_name = Some(value()),
        "nrcpus online" => meta.machine.logical_cpus = value().parse().ok(),
        "total memory" => {
            let kilobytes = value().strip_suffix(" kB").and_then(|number| number.parse::<u64>().ok());
            meta.machine.memory = kilobytes.and_then(|number| number.checked_mul(1024));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_about_the_machine_are_kept() {
        let mut meta = Meta::default();
        for line in [
            "# ========",
            "# os release : 6.18.44",
            "# perf version : 6.1.187",
            "# nrcpus online : 2",
            "# cpudesc : AMD EPYC",
            "# total memory : 24684084 kB",
            "# cmdline : /usr/bin/perf record -g -- a : b ",
            "# cmdline : another",
            "# arch : ",
        ] {
            comment(line.as_bytes(), &mut meta);
        }
        assert_eq!(meta.machine.os.as_deref(), Some("Linux 6.18.44"));
        assert_eq!(meta.recorder.as_deref(), Some("perf 6.1.187"));
        assert_eq!((meta.machine.logical_cpus, meta.machine.memory), (Some(2), Some(24_684_084 * 1024)));
        assert_eq!((meta.machine.cpu_name.as_deref(), meta.machine.arch), (Some("AMD EPYC"), None));
        assert_eq!(meta.extra, [("perf cmdline".to_owned(), "/usr/bin/perf record -g -- a : b".to_owned())]);
    }
}
