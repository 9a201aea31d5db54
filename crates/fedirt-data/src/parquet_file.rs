//! Parquet files as CSV text, so that they are read by the rules of text files: the header is line 1, the first row line 2.

use std::fmt::Write;

use bytes::Bytes;
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;

use crate::cause::Cause;
use crate::decode::quoted;

/// The file as CSV.
pub(crate) fn as_csv(file: Vec<u8>) -> Result<Vec<u8>, Cause> {
    let unreadable = |error: ParquetError| Cause::BadParquet(error.to_string());
    let reader = SerializedFileReader::new(Bytes::from(file)).map_err(unreadable)?;
    let names: Vec<String> = reader
        .metadata()
        .file_metadata()
        .schema()
        .get_fields()
        .iter()
        .map(|column| quoted(column.name()))
        .collect();
    let mut out = names.join(",") + "\n";
    for row in reader.get_row_iter(None).map_err(unreadable)? {
        for (at, (_, value)) in row.map_err(unreadable)?.get_column_iter().enumerate() {
            if at > 0 {
                out.push(',');
            }
            match value {
                Field::Null => {}
                Field::Str(text) => out.push_str(&quoted(text)),
                // Writing to a string cannot fail.
                number => drop(write!(out, "{number}")),
            }
        }
        out.push('\n');
    }
    Ok(out.into_bytes())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parquet::data_type::{ByteArray, ByteArrayType, DoubleType, Int32Type};
    use parquet::file::properties::WriterProperties;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    use crate::{Input, ReadOptions, read};

    /// Three students: an id in text, an integer with a missing answer, a float with whole values.
    fn file() -> Vec<u8> {
        let schema = "message rows { required binary id (UTF8); optional int32 I1; required double I2; }";
        let (schema, mut out) = (Arc::new(parse_message_type(schema).unwrap()), Vec::new());
        let mut writer =
            SerializedFileWriter::new(&mut out, schema, Arc::new(WriterProperties::default())).unwrap();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        let ids = ["a", "b", "c, the \"third\""].map(ByteArray::from);
        column.typed::<ByteArrayType>().write_batch(&ids, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int32Type>().write_batch(&[0, 1], Some(&[1, 0, 1]), None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&[1.0, 0.0, 1.0], None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
        writer.close().unwrap();
        out
    }

    #[test]
    fn rows_and_complaints_are_those_of_the_same_text() {
        let text = "id,I1,I2\na,0,1\nb,,0\n\"c, the \"\"third\"\"\",1,1\n";
        let of = |name: &str, bytes: &[u8]| read([Input::new(name, bytes)], &ReadOptions::default()).unwrap();
        let (parquet, csv) = (of("x.parquet", &file()), of("x.csv", text.as_bytes()));
        assert_eq!(parquet.sites[0].table, csv.sites[0].table);
        assert_eq!(parquet.sites[0].ids, csv.sites[0].ids);
        let mut damaged = file();
        let middle = damaged.len() / 2;
        damaged.truncate(middle);
        assert!(read([Input::new("x.parquet", &damaged[..])], &ReadOptions::default()).is_err());
    }

    /// Damaged files are refused or read, and never end the program.
    #[test]
    fn damaged_bytes_do_no_harm() {
        let (whole, mut state) = (file(), 7_u64);
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for _ in 0..2000 {
            let mut bytes = whole.clone();
            for _ in 0..1 + next(4) {
                let at = 4 + next(bytes.len() - 4);
                bytes[at] = next(256) as u8;
            }
            let _ = read([Input::new("x.parquet", &bytes[..])], &ReadOptions::default());
        }
    }
}
