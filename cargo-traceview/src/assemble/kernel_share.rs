//! Time in system calls, held against what the kernel counted.
//!
//! A thread that runs on another CPU goes on until the interrupt reaches it: a microsecond on real hardware, some ten in a
//! virtual machine. If it makes a system call within that time it is held at the call's end, as if it had been in the call
//! all along. Code between short calls, of a busy server for example, is then seen too little, the calls too much.
//!
//! Samples can't tell, but the kernel counts how much of a thread's CPU time was its own (at the ticks of its clock, page
//! faults and interrupts included). Calls can't have taken more than that. Where samples clearly say so, those in calls are
//! charged with less CPU time and all others with more, each in proportion. What no chance explains is corrected, not more:
//! the kernel's count is an estimate too.

use traceview_core::model::{CpuDelta, Nanos, ProfileBuilder, SampleFlags, Thread, ThreadId, Warning};

use crate::unwind::{RawFrame, Recording};

/// How far apart the kernel reports its count; a sample of its own at least so often.
const TICK_NS: f64 = 10_000_000.0;

/// So many standard errors are no chance.
const STANDARD_ERRORS: f64 = 3.0;

/// With fewer samples outside of calls these would stand for too much.
const MIN_OTHERS: u64 = 30;

/// What the samples of a thread say, by whether they are in a system call.
#[derive(Default)]
struct Charged {
    in_calls: i64,
    others: i64,
    calls: u64,
    outside: u64,
}

/// Corrects the CPU times of the samples of all threads that need it. `threads` are theirs in the profile. The warning says
/// how many they are.
pub(super) fn correct(recording: &Recording, threads: &[ThreadId], builder: &mut ProfileBuilder) -> Option<Warning> {
    let is_call = |frame: u32| matches!(recording.frames[frame as usize], RawFrame::Kernel { .. });
    let mut count = 0;
    let mut first = None;
    for (record, id) in recording.threads.iter().zip(threads) {
        let is_in_call = |row: usize| {
            let sample = &record.samples[row];
            let is_moment = !sample.flags.has(SampleFlags::CHARGED_AT_EXIT);
            is_moment.then(|| is_call(recording.stacks[sample.stack as usize].1))
        };
        if correct_thread(builder.thread_mut(*id), is_in_call) {
            count += 1;
            first.get_or_insert_with(|| format!("thread {} ({})", record.tid, record.name));
        }
    }
    (count > 0).then(|| Warning {
        code: "kernel-share-corrected".to_owned(),
        message:
            "threads made system calls so shortly after each other that samples saw too much of the calls; their CPU \
                  times are corrected to what the kernel counted"
                .to_owned(),
        count,
        first,
    })
}

/// Corrects the CPU times of a thread's samples, if they need it. `is_in_call` says it of a sample's row; `None`: the sample
/// stands for no moment.
fn correct_thread(thread: &mut Thread, is_in_call: impl Fn(usize) -> Option<bool>) -> bool {
    let Some(system) = thread.usage.and_then(|usage| usage.system) else { return false };
    let mut charged = Charged::default();
    for row in 0..thread.samples.len() {
        let Some(cpu) = thread.samples.cpu_of(row) else { continue };
        match is_in_call(row) {
            Some(true) => {
                charged.in_calls += cpu.0;
                charged.calls += 1;
            }
            Some(false) => {
                charged.others += cpu.0;
                charged.outside += 1;
            }
            None => {}
        }
    }
    let surplus = charged.in_calls - system.0;
    if surplus <= 0 || charged.outside < MIN_OTHERS || !charged.is_no_chance(surplus) {
        return false;
    }
    let mut calls = Rescale::new(charged.in_calls, charged.in_calls - surplus);
    let mut others = Rescale::new(charged.others, charged.others + surplus);
    for row in 0..thread.samples.len() {
        let scale = match is_in_call(row) {
            Some(true) => &mut calls,
            Some(false) => &mut others,
            None => continue,
        };
        if let Some(cpu) = thread.samples.cpu_of(row) {
            thread.samples.cpu[row] = CpuDelta::new(scale.next(cpu));
        }
    }
    true
}

impl Charged {
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    fn is_no_chance(&self, surplus: i64) -> bool {
        let total = (self.in_calls + self.others) as f64;
        let share = self.in_calls as f64 / total;
        let seen = 1.0 / (self.calls + self.outside) as f64 + TICK_NS / total;
        surplus as f64 / total > STANDARD_ERRORS * (share * (1.0 - share) * seen).sqrt()
    }
}

/// Scales numbers in turn so that their sum is scaled exactly.
struct Rescale {
    from: i128,
    to: i128,
    before: i128,
    given: i128,
}

impl Rescale {
    fn new(from: i64, to: i64) -> Self {
        Self { from: from.into(), to: to.into(), before: 0, given: 0 }
    }

    fn next(&mut self, cpu: Nanos) -> Nanos {
        self.before += i128::from(cpu.0);
        let due = self.before * self.to / self.from.max(1);
        let share = due - std::mem::replace(&mut self.given, due);
        Nanos(i64::try_from(share).unwrap_or(i64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use traceview_core::model::{OsId, ProcessId, StackId, StringId, ThreadUsage, Time};

    use super::*;

    /// A thread with `calls` samples in calls, then `outside` others, of 1 ms each.
    fn thread(calls: usize, outside: usize, system_ms: i64) -> Thread {
        let mut thread = Thread::new(ProcessId::new(0), OsId::Number(1), StringId::new(0));
        for row in 0..calls + outside {
            thread.samples.time.push(Time(row as i64));
            thread.samples.stack.push(Some(StackId::new(0)));
            thread.samples.cpu.push(CpuDelta::new(Nanos(1_000_000)));
        }
        thread.usage = Some(ThreadUsage { system: Some(Nanos(system_ms * 1_000_000)), ..ThreadUsage::default() });
        thread
    }

    fn sums(thread: &Thread, calls: usize) -> (i64, i64) {
        let sum = |rows: &[CpuDelta]| rows.iter().filter_map(|cpu| cpu.get()).map(|cpu| cpu.0).sum::<i64>();
        (sum(&thread.samples.cpu[..calls]), sum(&thread.samples.cpu[calls..]))
    }

    #[test]
    fn calls_do_not_take_more_than_the_kernel_counted() {
        let mut thread = thread(3_600, 400, 1_999);
        assert!(correct_thread(&mut thread, |row| Some(row < 3_600)));
        assert_eq!(sums(&thread, 3_600), (1_999_000_000, 2_001_000_000));
    }

    #[test]
    fn what_can_be_chance_or_page_faults_is_left_alone() {
        // In a second of 100 ticks one standard error of the kernel's count is 5 points.
        for (calls, outside, system_ms) in [(600, 400, 500), (400, 3_600, 2_000), (3_990, 10, 1_000)] {
            let mut thread = thread(calls, outside, system_ms);
            let before = thread.samples.cpu.clone();
            assert!(!correct_thread(&mut thread, |row| Some(row < calls)), "{calls} {outside} {system_ms}");
            assert_eq!(thread.samples.cpu, before);
        }
        let mut uncounted = thread(3_600, 400, 0);
        uncounted.usage = None;
        assert!(!correct_thread(&mut uncounted, |row| Some(row < 3_600)));
    }

    #[test]
    fn what_stands_for_no_moment_keeps_its_time() {
        let mut thread = thread(3_600, 400, 1_800);
        assert!(correct_thread(&mut thread, |row| (row != 0).then_some(row < 3_600)));
        assert_eq!(thread.samples.cpu[0].get(), Some(Nanos(1_000_000)));
        assert_eq!(sums(&thread, 3_600), (1_801_000_000, 2_199_000_000));
    }
}
