//! What machine this is, for the metadata of a recording.

use std::fs::read_to_string;

use traceview_core::model::Machine;

/// The machine that we run on. What cannot be found out is left out.
pub(crate) fn this_machine() -> Machine {
    let release = |name: &str| read_to_string(format!("/proc/sys/kernel/{name}")).ok().map(|text| text.trim().to_owned());
    let cpus = std::thread::available_parallelism().ok().and_then(|cpus| u32::try_from(cpus.get()).ok());
    let cpu_info = read_to_string("/proc/cpuinfo").unwrap_or_default();
    Machine {
        os: release("ostype").zip(release("osrelease")).map(|(name, version)| format!("{name} {version}")),
        arch: Some(std::env::consts::ARCH.to_owned()),
        cpu_name: value_of(&cpu_info, "model name").map(str::to_owned),
        logical_cpus: cpus,
        physical_cpus: value_of(&cpu_info, "cpu cores").and_then(|cores| cores.parse().ok()),
        memory: read_to_string("/proc/meminfo").ok().and_then(|text| memory_bytes(&text)),
    }
}

/// The value of the first line `key : value`.
fn value_of<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().filter_map(|line| line.split_once(':')).find(|(name, _)| name.trim() == key).map(|(_, value)| value.trim())
}

fn memory_bytes(meminfo: &str) -> Option<u64> {
    value_of(meminfo, "MemTotal")?.strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn proc_files_are_read_by_key() {
        assert_eq!(value_of("a\t: 1\nmodel name\t: Some CPU @ 2:1\n", "model name"), Some("Some CPU @ 2:1"));
        assert_eq!(memory_bytes("MemTotal:       24576 kB\nMemFree: 1 kB\n"), Some(24576 * 1024));
        assert_eq!(memory_bytes(""), None);
    }

    #[test]
    fn this_machine_is_known() {
        let machine = this_machine();
        assert!(machine.os.is_some_and(|os| os.starts_with("Linux ")));
        assert!(machine.memory.is_some_and(|bytes| bytes > 1 << 20));
    }
}
