//! Files of other tools, read and written again: against the values that those tools compute from them.

mod fixtures;
mod gecko;
mod gecko_hostile;
mod gecko_raw;
