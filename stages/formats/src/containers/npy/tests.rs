//! Arrays of every type and order, against what numpy wrote; and damaged ones.
use super::*;
use proptest::prelude::*;

fn fixture(name: &str) -> Read<Array> {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/graphs/arrays/npy").join(name))
}

/// A file of version 1, put together by hand.
fn file(header: &str, data: &[u8]) -> Vec<u8> {
    [MAGIC, &[1, 0], &(header.len() as u16).to_le_bytes(), header.as_bytes(), data].concat()
}

fn bytes(header: &str, data: &[u8]) -> Read<Array> {
    parse(Origin::new(Path::new("a.npy"), None), file(header, data))
}

#[test]
fn every_type_of_number_that_numpy_writes_is_read() {
    let names = "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 int32be \
                 int64be uint16be uint64be float16be float32be float64be";
    for name in names.split(' ') {
        let array = fixture(&format!("{name}.npy")).unwrap();
        assert_eq!(array.shape, [2, 3], "{name}");
        assert_eq!(array.rows().unwrap(), (2, 3));
        assert_eq!(array.u64s().unwrap(), [0, 1, 2, 3, 100, 5], "{name}");
        assert_eq!(array.i64s().unwrap(), [0, 1, 2, 3, 100, 5], "{name}");
        assert_eq!(array.f32s().unwrap(), [0.0, 1.0, 2.0, 3.0, 100.0, 5.0], "{name}");
        assert_eq!(array.f64s().unwrap(), [0.0, 1.0, 2.0, 3.0, 100.0, 5.0], "{name}");
    }
    assert_eq!(fixture("bool.npy").unwrap().bools().unwrap(), [true, false, true]);
    for version in ["version2.npy", "version3.npy"] {
        assert_eq!(fixture(version).unwrap().u64s().unwrap(), [0, 1, 2, 3, 4]);
    }
    let half = fixture("half.npy").unwrap().f64s().unwrap();
    assert_eq!(half[..4], [0.0, 1.0, -2.0, 0.5]);
    assert_eq!(half[4..8], [2f64.powi(-24), 65504.0, f64::INFINITY, f64::NEG_INFINITY]);
    assert!(half[8].is_nan() && (half[9] - 0.000123).abs() < 1e-7);
}

#[test]
fn columns_first_a_single_value_and_nothing_are_read() {
    let array = fixture("fortran.npy").unwrap();
    assert_eq!((array.shape.clone(), array.u64s().unwrap()), (vec![2, 3, 4], (0..24).collect()));
    let single = fixture("single.npy").unwrap();
    assert_eq!((single.shape.len(), single.u64s().unwrap()), (0, vec![7]));
    let empty = fixture("empty.npy").unwrap();
    assert_eq!((empty.rows().unwrap(), empty.f32s().unwrap()), ((0, 3), vec![]));
}

#[test]
fn texts_and_python_objects_are_read() {
    assert_eq!(fixture("text.npy").unwrap().words().unwrap(), ["a", "bc", "dé€f"]);
    assert_eq!(fixture("bytes.npy").unwrap().words().unwrap(), ["a", "bc", "def"]);
    let objects = fixture("objects.npy").unwrap();
    assert!(objects.is_text());
    assert_eq!(objects.words().unwrap(), ["ab", "c", "ab"]);
    assert_eq!(fixture("mixed.npy").unwrap().f64s().unwrap(), [1.0, 2.5, 1.0]);
    let matrix = fixture("matrix.npy").unwrap().matrix().unwrap().unwrap();
    assert_eq!(
        (matrix.columns, matrix.offsets, matrix.index, matrix.values),
        (3, vec![0, 1, 3], vec![1, 0, 2], vec![1.0, 2.0, 3.0])
    );
}

#[test]
fn what_is_not_read_is_refused_with_its_name() {
    let what = |name: &str| fixture(name).unwrap_err().to_string();
    assert!(
        what("complex.npy").contains("values of the type `<c8` are not read"),
        "{}",
        what("complex.npy")
    );
    assert!(what("record.npy").contains("records with named fields are not read"));
    assert!(
        what("evil.npy").contains("it names `posix.getcwd`, which is not read"),
        "{}",
        what("evil.npy")
    );
}

#[test]
fn a_number_that_does_not_fit_is_named_with_its_position() {
    let header = "{'descr': '<i8', 'fortran_order': False, 'shape': (3,), }";
    let data: Vec<u8> = [1i64, -5, 7].into_iter().flat_map(i64::to_le_bytes).collect();
    let array = bytes(header, &data).unwrap();
    assert_eq!(array.i64s().unwrap(), [1, -5, 7]);
    let shown = "error: value 1 is not usable here\n  --> a.npy\n       = expected whole numbers \
        from 0, found -5\nhint: numbers of nodes, classes and rows begin at 0";
    assert_eq!(array.u64s().unwrap_err().to_string(), shown);
    assert!(array.rows_below(7).unwrap_err().to_string().contains("value 1"));
    assert!(array.bools().unwrap_err().to_string().contains("expected bool, or 0 and 1, found -5"));
    assert!(array.words().unwrap_err().to_string().contains("expected text, found int64"));
    let objects = fixture("objects.npy").unwrap().f32s().unwrap_err();
    assert!(
        objects.found == "another object"
            && objects.hint.contains("numpy.array(rows, dtype='float32')"),
        "{objects}"
    );
    let reals: Vec<u8> = [0.5f64, 1e300].into_iter().flat_map(f64::to_le_bytes).collect();
    let array = bytes("{'descr': '<f8', 'fortran_order': False, 'shape': (2L,)}", &reals).unwrap();
    assert!(array.u64s().unwrap_err().to_string().contains("found 0.5"));
    assert!(array.f32s().unwrap_err().to_string().contains("value 1"));
    assert!(
        fixture("text.npy").unwrap().u64s().unwrap_err().to_string().contains("found text (U4)")
    );
}

#[test]
fn a_shape_is_compared_with_the_bytes() {
    let header =
        |shape: &str| format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
    let error = bytes(&header("(2, 2)"), &[0; 12]).unwrap_err().to_string();
    let shown = "error: an array's bytes do not fit its shape\n  --> a.npy: byte 69\n       = \
        expected 16 bytes for float32 of shape (2, 2), found 12\nhint: was the file cut short? \
        write it again with  numpy.save";
    assert_eq!(error, shown);
    assert!(
        bytes(&header("(1152921504606846976,)"), &[0; 4])
            .unwrap_err()
            .to_string()
            .contains("found 4")
    );
    assert!(
        bytes(&header("(1152921504606846976, 64)"), &[])
            .unwrap_err()
            .to_string()
            .contains("more than 2^64")
    );
    // Nothing stands behind 2^60 rows of no columns: they are no rows.
    let empty = bytes(&header("(1152921504606846976, 0)"), &[]).unwrap();
    assert!(empty.rows().unwrap_err().to_string().contains("is empty or too large"));
    let texts =
        bytes("{'descr': '<U0', 'fortran_order': False, 'shape': (1152921504606846976, 9), }", &[])
            .unwrap();
    assert!(texts.words().is_err() && texts.is_empty());
}

#[test]
fn a_damaged_header_is_named_with_its_byte() {
    let fault = |bytes: &[u8]| {
        parse(Origin::new(Path::new("a.npy"), None), bytes.to_vec()).unwrap_err().to_string()
    };
    assert!(fault(b"12345678901").contains("it does not begin as a `.npy` file does"));
    assert!(
        fault(b"\x93NUMPY\x07\x00\x10\x00{}").contains("byte 6"),
        "{}",
        fault(b"\x93NUMPY\x07\x00\x10\x00{}")
    );
    assert!(fault(b"\x93NUMPY\x01\x00\xff\x00{}").contains("the header is cut short"));
    assert!(fault(&file("{'descr': '<f4'}", b"")).contains("lacks one of"));
    assert!(fault(&file("{'descr': '<f4', 'x': 1}", b"")).contains("unknown entry `x`"));
    assert!(fault(&file("{'shape': (-1,)}", b"")).contains("no tuple of whole numbers"));
    assert!(
        fault(&file(&format!("{{'shape': ({})}}", "1,".repeat(99)), b""))
            .contains("more than 32 extents")
    );
    assert!(fault(&file("{'fortran_order': 1}", b"")).contains("neither True nor False"));
    assert!(fault(&file("[]", b"")).contains("expected `{`"));
}

/// Everything that a reader may ask of an array.
fn use_all(array: &Array) {
    let _ = (
        array.len(),
        array.rows().map_err(|error| error.to_string()),
        array.u64s(),
        array.i64s(),
        array.f32s(),
        array.f64s(),
        array.bools(),
    );
    let _ = (array.words(), array.matrix(), array.rows_below(5));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(data in proptest::collection::vec(proptest::num::u8::ANY, 0..200), header in "[{}(),:' a-zA-Z0-9<>|]{0,80}") {
        let _ = parse(Origin::new(Path::new("a"), None), data.clone()).map(|array| use_all(&array));
        let _ = bytes(&header, &data).map(|array| use_all(&array));
    }

    #[test]
    fn any_shape_and_type_are_read_or_refused(
        order in "[<>|]", letter in "[biufSUOcMV]", size in 0u64..20, shape in proptest::collection::vec(0u64..4, 0..4), by_columns: bool,
        huge in proptest::option::of(proptest::num::u64::ANY), data in proptest::collection::vec(proptest::num::u8::ANY, 0..300)
    ) {
        let shape: Vec<String> = shape.into_iter().chain(huge).map(|extent| format!("{extent},")).collect();
        let fortran = if by_columns { "True" } else { "False" };
        let header = format!("{{'descr': '{order}{letter}{size}', 'fortran_order': {fortran}, \
                              'shape': ({})}}", shape.concat());
        let _ = bytes(&header, &data).map(|array| use_all(&array));
    }

    #[test]
    fn a_changed_file_is_read_or_refused(which in 0usize..6, at in 0usize..600, to: u8, end in 0usize..600) {
        let name = ["fortran", "text", "objects", "mixed", "matrix", "float16be"][which];
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/graphs/arrays/npy").join(format!("{name}.npy"));
        let mut bytes = std::fs::read(path).unwrap();
        let at = at % bytes.len();
        bytes[at] = to;
        bytes.truncate(end.max(bytes.len() / 2));
        let _ = parse(Origin::new(Path::new("a"), None), bytes).map(|array| use_all(&array));
    }
}
