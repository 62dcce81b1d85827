//! Tables of raw files: `{"schema": {"stack": 0, "time": 1}, "data": [[7, 0.5], [8]]}`. The schema gives each column its
//! position in the rows; values at the end of a row can be missing. Rows are decoded one by one into a struct, without
//! values for columns that nobody asks for.

use std::fmt;
use std::marker::PhantomData;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::super::schema::Str;

/// A row that knows its columns by name. [`rows!`] makes them.
pub(super) trait Record<'de>: Default {
    /// The names that the schema can have for its columns.
    const COLUMNS: &'static [&'static str];

    /// Reads the next value of `values` as that of the column with this number. False at the end of the row.
    fn read<A: SeqAccess<'de>>(&mut self, column: usize, values: &mut A) -> Result<bool, A::Error>;
}

/// Declares a struct whose fields are columns of a table.
macro_rules! rows {
    ($(#[$attribute:meta])* $name:ident $(<$life:lifetime>)? { $($field:ident: $type:ty = $column:literal,)+ }
        $(besides { $($extra:ident: $extra_type:ty,)+ })?
    ) => {
        $(#[$attribute])*
        #[derive(Default)]
        pub(super) struct $name $(<$life>)? {
            $(pub $field: $type,)+
            $($(pub $extra: $extra_type,)+)?
        }

        impl<'de $(: $life, $life)?> $crate::format::gecko::raw::table::Record<'de> for $name $(<$life>)? {
            const COLUMNS: &'static [&'static str] = &[$($column),+];

            fn read<A: serde::de::SeqAccess<'de>>(
                &mut self,
                column: usize,
                values: &mut A,
            ) -> Result<bool, A::Error> {
                let mut numbers = 0..;
                $(if numbers.next() == Some(column) {
                    let value = values.next_element()?;
                    let is_there = value.is_some();
                    if let Some(value) = value {
                        self.$field = value;
                    }
                    return Ok(is_there);
                })+
                Ok(false)
            }
        }
    };
}
pub(super) use rows;

/// A table, decoded.
pub(super) struct Table<R> {
    pub rows: Vec<R>,
    /// Which of the row's columns the schema has.
    columns: Vec<&'static str>,
}

impl<R> Default for Table<R> {
    fn default() -> Self {
        Self { rows: Vec::new(), columns: Vec::new() }
    }
}

impl<R> Table<R> {
    pub(super) fn has(&self, column: &str) -> bool {
        self.columns.contains(&column)
    }
}

/// Positions and numbers of the columns that are read, by position.
struct Schema<R> {
    columns: Vec<(usize, usize)>,
    row: PhantomData<R>,
}

struct Data<'a, R>(&'a Schema<R>);
struct RowOf<'a, R>(&'a Schema<R>);

impl<'de, R: Record<'de>> Deserialize<'de> for Table<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Tables<R>(PhantomData<R>);

        impl<'de, R: Record<'de>> Visitor<'de> for Tables<R> {
            type Value = Table<R>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a table with schema and data")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Table<R>, A::Error> {
                let mut schema: Option<Schema<R>> = None;
                // Rows that stand before their schema have to wait for it.
                let mut waiting: Option<&'de RawValue> = None;
                let mut rows = None;
                while let Some(Str(key)) = map.next_key()? {
                    match (&*key, &schema) {
                        ("schema", _) => schema = Some(map.next_value()?),
                        ("data", Some(schema)) => rows = Some(map.next_value_seed(Data(schema))?),
                        ("data", None) => waiting = Some(map.next_value()?),
                        _ => drop(map.next_value::<IgnoredAny>()?),
                    }
                }
                let schema = schema.ok_or_else(|| de::Error::missing_field("schema"))?;
                if let (Some(data), None) = (waiting, &rows) {
                    let mut data = serde_json::Deserializer::from_str(data.get());
                    rows = Some(Data(&schema).deserialize(&mut data).map_err(de::Error::custom)?);
                }
                let rows = rows.ok_or_else(|| de::Error::missing_field("data"))?;
                let columns = schema.columns.iter().map(|(_, number)| R::COLUMNS[*number]).collect();
                Ok(Table { rows, columns })
            }
        }

        deserializer.deserialize_map(Tables(PhantomData))
    }
}

impl<'de, R: Record<'de>> Deserialize<'de> for Schema<R> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Positions<R>(PhantomData<R>);

        impl<'de, R: Record<'de>> Visitor<'de> for Positions<R> {
            type Value = Schema<R>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the positions of a table's columns")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Schema<R>, A::Error> {
                let mut columns: Vec<(usize, usize)> = Vec::new();
                while let Some(Str(name)) = map.next_key()? {
                    let position = map.next_value()?;
                    let Some(number) = R::COLUMNS.iter().position(|column| *column == name) else { continue };
                    // Said twice, the last is meant.
                    columns.retain(|(_, known)| *known != number);
                    if columns.iter().any(|(known, _)| *known == position) {
                        return Err(de::Error::custom(format_args!("two columns have the position {position}")));
                    }
                    columns.push((position, number));
                }
                columns.sort_unstable();
                Ok(Schema { columns, row: PhantomData })
            }
        }

        deserializer.deserialize_map(Positions(PhantomData))
    }
}

impl<'de, R: Record<'de>> DeserializeSeed<'de> for Data<'_, R> {
    type Value = Vec<R>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Vec<R>, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, R: Record<'de>> Visitor<'de> for Data<'_, R> {
    type Value = Vec<R>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the rows of a table")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Vec<R>, A::Error> {
        let mut rows = Vec::new();
        while let Some(row) = seq.next_element_seed(RowOf(self.0))? {
            rows.push(row);
        }
        Ok(rows)
    }
}

impl<'de, R: Record<'de>> DeserializeSeed<'de> for RowOf<'_, R> {
    type Value = R;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<R, D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de, R: Record<'de>> Visitor<'de> for RowOf<'_, R> {
    type Value = R;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a row of a table")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<R, A::Error> {
        let mut row = R::default();
        let mut position = 0;
        for (wanted, number) in &self.0.columns {
            while position < *wanted {
                if seq.next_element::<IgnoredAny>()?.is_none() {
                    return Ok(row);
                }
                position += 1;
            }
            if !row.read(*number, &mut seq)? {
                return Ok(row);
            }
            position += 1;
        }
        while seq.next_element::<IgnoredAny>()?.is_some() {}
        Ok(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    rows! {
        /// A row to test with.
        Pair {
            stack: Option<u32> = "stack",
            time: Option<f64> = "time",
        }
    }

    type Pairs = Vec<(Option<u32>, Option<f64>)>;

    fn pairs(text: &str) -> Result<Pairs, String> {
        let table: Table<Pair> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        Ok(table.rows.into_iter().map(|row| (row.stack, row.time)).collect())
    }

    #[test]
    fn columns_stand_where_the_schema_says() {
        let swapped = r#"{"schema": {"time": 0, "else": 1, "stack": 2}, "data": [[0.5, [{}], 7, "more"], [1, 0], [], [2, 0, null]]}"#;
        let expected = vec![(Some(7), Some(0.5)), (None, Some(1.0)), (None, None), (None, Some(2.0))];
        assert_eq!(pairs(swapped), Ok(expected.clone()));
        let data_first =
            r#"{"data": [[0.5, [{}], 7, "more"], [1, 0], [], [2, 0, null]], "schema": {"time": 0, "stack": 2}}"#;
        assert_eq!(pairs(data_first), Ok(expected));
        let far = r#"{"schema": {"time": 18446744073709551615, "stack": 1}, "data": [[0, 3]]}"#;
        assert_eq!(pairs(far), Ok(vec![(Some(3), None)]));
        let table: Table<Pair> = serde_json::from_str(far).expect("a table");
        assert!(table.has("time") && table.has("stack") && !table.has("else"));
    }

    #[test]
    fn what_is_no_table_is_refused() {
        for (text, reason) in [
            (r#"{"data": []}"#, "missing field `schema`"),
            (r#"{"schema": {}}"#, "missing field `data`"),
            (r#"{"schema": {"time": -1}, "data": []}"#, "invalid value"),
            (r#"{"schema": {"time": 1, "stack": 1}, "data": []}"#, "two columns have the position 1"),
            (r#"{"schema": {"stack": 0}, "data": [["x"]]}"#, "invalid type: string"),
            (r#"{"schema": {"stack": 0}, "data": [{}]}"#, "expected a row of a table"),
            ("[]", "expected a table"),
        ] {
            let error = pairs(text).expect_err(text);
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
