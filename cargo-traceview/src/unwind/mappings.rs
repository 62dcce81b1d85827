//! Which file was mapped where in which process, and from when until when.

use super::address_space::Region;
use super::recording::MappingRecord;

/// Collects the mappings of all processes.
#[derive(Default)]
pub(super) struct MappingLog {
    rows: Vec<MappingRecord>,
    /// For each process the rows that are still mapped, in order of address.
    open: Vec<Vec<usize>>,
}

impl MappingLog {
    /// All of them, for the recording.
    pub(super) fn into_rows(self) -> Vec<MappingRecord> {
        self.rows
    }

    /// Takes note of what is mapped in `process` at `time`; `regions` are in order of address.
    pub(super) fn note(&mut self, process: usize, time: i64, regions: &[Region]) {
        if self.open.len() <= process {
            self.open.resize_with(process + 1, Vec::new);
        }
        let mut before = std::mem::take(&mut self.open[process]).into_iter().peekable();
        let mut now = Vec::new();
        for region in regions {
            while let Some(row) = before.next_if(|row| self.rows[*row].start < region.start) {
                self.close(row, time);
            }
            let Some(image) = region.image else { continue };
            let same = before.next_if(|row| {
                let row = &self.rows[*row];
                (row.start, row.end, row.image) == (region.start, region.end, image)
            });
            now.push(same.unwrap_or(self.rows.len()));
            if same.is_none() {
                self.rows.push(MappingRecord {
                    process,
                    image,
                    start: region.start,
                    end: region.end,
                    file_offset: region.file_offset,
                    bias: region.bias,
                    from: time,
                    until: None,
                });
            }
        }
        for row in before {
            self.close(row, time);
        }
        self.open[process] = now;
    }

    /// A map that the unwinder read itself is younger than those that still wait in its queue, so `time` can lie before
    /// the row's start.
    fn close(&mut self, row: usize, time: i64) {
        let row = &mut self.rows[row];
        row.until = Some(time.max(row.from));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(start: u64, image: Option<usize>) -> Region {
        Region { start, end: start + 0x1000, file_offset: 0, image, bias: 0 }
    }

    fn spans(log: MappingLog) -> Vec<(usize, u64, usize, i64, Option<i64>)> {
        log.into_rows().iter().map(|row| (row.process, row.start, row.image, row.from, row.until)).collect()
    }

    #[test]
    fn mappings_last_from_when_they_are_first_seen_until_they_are_not() {
        let mut log = MappingLog::default();
        log.note(0, 10, &[region(0x1000, Some(0)), region(0x3000, Some(1)), region(0x5000, None)]);
        log.note(0, 20, &[region(0x1000, Some(0)), region(0x3000, Some(2)), region(0x7000, Some(3))]);
        log.note(0, 30, &[region(0x7000, Some(3))]);
        let expected = [
            (0, 0x1000, 0, 10, Some(30)),
            (0, 0x3000, 1, 10, Some(20)),
            (0, 0x3000, 2, 20, Some(30)),
            (0, 0x7000, 3, 20, None),
        ];
        assert_eq!(spans(log), expected);
    }

    #[test]
    fn processes_have_mappings_of_their_own() {
        let mut log = MappingLog::default();
        log.note(0, 10, &[region(0x1000, Some(0))]);
        log.note(2, 20, &[region(0x1000, Some(0))]);
        log.note(0, 30, &[]);
        assert_eq!(spans(log), [(0, 0x1000, 0, 10, Some(30)), (2, 0x1000, 0, 20, None)]);
    }

    #[test]
    fn a_mapping_that_is_missing_from_an_older_map_does_not_end_before_it_began() {
        let mut log = MappingLog::default();
        log.note(0, 20, &[region(0x1000, Some(0))]);
        log.note(0, 10, &[]);
        assert_eq!(spans(log), [(0, 0x1000, 0, 20, Some(20))]);
    }
}
