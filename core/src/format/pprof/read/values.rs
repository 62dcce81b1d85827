//! Sample types of the file to columns of the model.

use super::super::names::{CPU, SAMPLES};
use super::super::schema;
use super::Maker;
use crate::analysis::Unit;
use crate::model::{CpuDelta, Nanos, SampleTable, ValueColumn, ValueType, ValueTypeId, Values};

/// Where the values of samples go, in order of the file's types.
pub(super) struct Columns {
    roles: Vec<Role>,
    /// How many of them are [`Role::Further`].
    further: Vec<ValueTypeId>,
}

/// What a value is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// How many samples the row stands for.
    Weight,
    /// CPU time; times a factor, in nanoseconds.
    Cpu(i64),
    /// A further value, the column of this number.
    Further(usize),
}

impl Columns {
    /// The columns of `types`, whose texts were checked.
    pub(super) fn of(types: &[schema::ValueType], maker: &mut Maker<'_>) -> Self {
        let mut columns = Self { roles: Vec::new(), further: Vec::new() };
        for value_type in types {
            let [name, unit] = [value_type.r#type, value_type.unit].map(|row| maker.texts.get(row).into_owned());
            let cpu = match Unit::scaled(&unit) {
                (Unit::Nanoseconds, factor) if name == CPU => Some(Role::Cpu(factor)),
                _ => None,
            };
            let role = if [&*name, &*unit] == SAMPLES { Some(Role::Weight) } else { cpu };
            // A second column of the same is an odd one, but no reason to lose it.
            let is_new = |role: &Role| columns.roles.iter().all(|known| kind(*known) != kind(*role));
            let role = role.filter(is_new).unwrap_or_else(|| {
                let [name, unit] = [value_type.r#type, value_type.unit].map(|row| maker.text(row));
                columns.further.push(maker.builder.value_type(ValueType { name, unit }));
                Role::Further(columns.further.len() - 1)
            });
            columns.roles.push(role);
        }
        columns
    }

    /// How many values each sample has.
    pub(super) fn len(&self) -> usize {
        self.roles.len()
    }

    /// Which value says how many samples a row stands for.
    pub(super) fn weight(&self) -> Option<usize> {
        self.roles.iter().position(|role| *role == Role::Weight)
    }

    /// A table for such values.
    pub(super) fn table(&self) -> SampleTable {
        let weight = if self.weight().is_some() { Values::Integer(Vec::new()) } else { Values::Ones };
        let column =
            |value_type: &ValueTypeId| ValueColumn { value_type: *value_type, values: Values::Integer(Vec::new()) };
        SampleTable { weight, values: self.further.iter().map(column).collect(), ..SampleTable::default() }
    }

    /// Adds the values of a sample. Says whether all of them could be kept.
    pub(super) fn push(&self, values: &[i64], table: &mut SampleTable) -> bool {
        let mut exact = true;
        for (role, value) in self.roles.iter().zip(values) {
            let column = match role {
                Role::Weight => &mut table.weight,
                Role::Further(index) => &mut table.values[*index].values,
                Role::Cpu(factor) => {
                    // The smallest number means that it is not known.
                    let nanos = value.checked_mul(*factor).filter(|nanos| *nanos != i64::MIN);
                    exact &= nanos.is_some();
                    let saturated = if *value < 0 { -i64::MAX } else { i64::MAX };
                    table.cpu.push(CpuDelta::new(Nanos(nanos.unwrap_or(saturated))));
                    continue;
                }
            };
            if let Values::Integer(column) = column {
                column.push(*value);
            }
        }
        exact
    }
}

fn kind(role: Role) -> Role {
    match role {
        Role::Cpu(_) => Role::Cpu(0),
        other => other,
    }
}
