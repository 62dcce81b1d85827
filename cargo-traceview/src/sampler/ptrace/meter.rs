//! What processes use: CPU time and memory, now and then.

use super::super::event::{Event, ProcessIndex, Usage};
use super::super::proc_fs::{self, ProcFile};
use super::Tracer;
use super::sys::{self, Tid};

/// How far apart two readings are,
const PERIOD_NS: i64 = 10_000_000;

/// and by how much more for each process.
const PERIOD_OF_A_PROCESS_NS: usize = 50_000;

/// With more processes than this their files are opened for each reading: open files are needed for other things, too.
const MOST_OPEN: usize = 48;

/// The meter of one process.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    file: Option<ProcFile>,
    last: Option<(Option<i64>, Option<u64>)>,
}

impl Meter {
    /// Memory of process `pid`; `None` if that cannot be read. `tid` is a thread of it that is alive.
    fn resident_bytes(&mut self, pid: Tid, tid: Option<Tid>) -> Option<u64> {
        let pages = self.read().filter(|pages| *pages > 0).or_else(|| {
            // A thread that has ended shows no memory any more, also if it was the first.
            self.file = ProcFile::open(pid, tid?, "statm").ok();
            self.read().filter(|pages| *pages > 0)
        });
        Some(pages? * sys::page_size())
    }

    fn read(&self) -> Option<u64> {
        let mut buffer = [0; 128];
        proc_fs::parse_resident_pages(self.file.as_ref()?.read(&mut buffer)?)
    }
}

impl Tracer<'_> {
    /// Reads what processes use, if that is due. One that used no CPU uses the memory that it did.
    pub(super) fn read_meters(&mut self, now: i64) {
        if now < self.meters_due {
            return;
        }
        let living = self.table.living();
        let pause = i64::try_from(living.len() * PERIOD_OF_A_PROCESS_NS).unwrap_or(0);
        self.meters_due = now + PERIOD_NS + pause;
        for index in living {
            let process = self.table.process(index);
            let cpu_ns = sys::process_cpu_ns(process.pid);
            if process.meter.last.is_none_or(|(last, _)| last != cpu_ns) {
                self.read_meter(index, cpu_ns, now);
            }
        }
    }

    /// Reads what a process uses at a moment that matters.
    pub(super) fn meter_now(&mut self, index: ProcessIndex, now: i64) {
        let cpu_ns = sys::process_cpu_ns(self.table.process(index).pid);
        self.read_meter(index, cpu_ns, now);
    }

    fn read_meter(&mut self, index: ProcessIndex, cpu_ns: Option<i64>, time: i64) {
        let keeps_file = self.table.process_count() <= MOST_OPEN;
        let process = self.table.process(index);
        let pid = process.pid;
        let tid = process.threads.first().copied();
        let resident_bytes = process.meter.resident_bytes(pid, tid);
        if !keeps_file {
            process.meter.file = None;
        }
        let reading = (cpu_ns, resident_bytes);
        if process.meter.last.replace(reading) != Some(reading) {
            self.send(Event::Usage(Usage { process: index, time, cpu_ns, resident_bytes }));
        }
    }
}
