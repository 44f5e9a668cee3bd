//! Pickles as Python 2 and 3 write them, foreign names, and arbitrary bytes.
use super::*;
use proptest::prelude::*;

fn read(bytes: &[u8]) -> Result<Pickle, String> {
    load(Path::new("p"), bytes).map_err(|error| error.to_string())
}

/// `[1, -2, 3.5, 'a\0\n', u'bä', None, True, 2**40, (1, 2, 3, 4), {1: [2]}]` as Python 2 writes it,
/// assembled by hand; Python 3.11 loads both.
const PROTOCOL_0: &[u8] =
    b"(lp0\nI1\naI-2\naF3.5\naS'a\\x00\\n'\np1\naVb\\u00e4\np2\naNaI01\naL1099511627776L\na(I1\nI2\nI3\nI4\ntp3\na(dp4\nI1\n(lp5\nI2\nasa.";
const PROTOCOL_2: &[u8] = b"\x80\x02]q\x00(K\x01J\xfe\xff\xff\xffG@\x0c\x00\x00\x00\x00\x00\x00U\x03a\x00\nq\x01X\x03\x00\x00\x00b\xc3\xa4q\x02N\x88\x8a\x06\x00\x00\x00\x00\x00\x01(K\x01K\x02K\x03K\x04tq\x03}q\x04K\x01]q\x05K\x02ase.";

#[test]
fn plain_values_of_every_kind_are_read() {
    for bytes in [PROTOCOL_0, PROTOCOL_2] {
        let pickle = read(bytes).unwrap();
        let items = pickle.sequence(pickle.root()).unwrap().to_vec();
        assert_eq!(
            items[..3],
            [PickleValue::Integer(1), PickleValue::Integer(-2), PickleValue::Real(3.5)]
        );
        assert_eq!((pickle.text(items[3]), pickle.text(items[4])), (Some("a\0\n"), Some("bä")));
        assert_eq!(
            items[5..8],
            [PickleValue::None, PickleValue::Bool(true), PickleValue::Integer(1 << 40)]
        );
        assert_eq!(pickle.sequence(items[8]).unwrap().len(), 4);
        let pairs = pickle.dict(items[9]).unwrap();
        assert_eq!(
            (pairs[0].0, pickle.sequence(pairs[0].1).unwrap()),
            (PickleValue::Integer(1), &[PickleValue::Integer(2)][..])
        );
    }
}

/// A pickle that Python 3.11, numpy 2.4 and scipy 1.17 wrote: tests/graphs/README.md.
fn written(name: &str, protocol: u32) -> Pickle {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("../../tests/graphs/pickle/{name}.{protocol}"));
    load(&path, &std::fs::read(&path).unwrap()).unwrap()
}

#[test]
fn what_python_3_writes_is_read_in_every_protocol() {
    for protocol in 0..=5 {
        let pickle = written("values", protocol);
        let items = pickle.sequence(pickle.root()).unwrap().to_vec();
        assert_eq!(
            items[..3],
            [PickleValue::Integer(1), PickleValue::Integer(-2), PickleValue::Real(3.5)]
        );
        assert_eq!(
            (pickle.text(items[3]), pickle.text(items[4])),
            (Some("bä€\\"), Some("a\0\n")),
            "{protocol}"
        );
        assert_eq!(
            items[5..8],
            [PickleValue::None, PickleValue::Bool(true), PickleValue::Integer(1 << 40)]
        );
        assert_eq!(
            (pickle.sequence(items[8]).unwrap().len(), pickle.dict(items[9]).unwrap().len()),
            (4, 1)
        );
    }
}

#[test]
fn what_numpy_and_scipy_write_is_read_in_every_protocol() {
    for protocol in 0..=5 {
        for name in ["array_c", "array_f"] {
            let pickle = written(name, protocol);
            assert_eq!(
                pickle.array(pickle.root()),
                Ok(NumpyArray { shape: vec![2, 2], values: vec![1.0, 2.0, 3.0, 4.0] }),
                "{name}.{protocol}"
            );
        }
        let pickle = written("csr", protocol);
        let expected = CsrMatrix {
            columns: 3,
            offsets: vec![0, 1, 3],
            index: vec![1, 0, 2],
            values: vec![2.5, 1.0, -1.0],
        };
        assert_eq!(pickle.matrix(pickle.root()), Ok(expected), "{protocol}");
        let pickle = written("graph", protocol);
        let lists: Vec<_> = pickle
            .dict(pickle.root())
            .unwrap()
            .iter()
            .map(|&(node, list)| (node, pickle.sequence(list).unwrap()))
            .collect();
        let one = [PickleValue::Integer(1), PickleValue::Integer(2)];
        assert_eq!(
            lists,
            [
                (PickleValue::Integer(0), &one[..]),
                (PickleValue::Integer(1), &[PickleValue::Integer(0)][..])
            ],
            "{protocol}"
        );
    }
}

#[test]
fn a_foreign_name_is_an_error_that_names_it() {
    for (bytes, name) in [
        (&b"cos\nsystem\n(S'true'\ntR."[..], "os.system"),
        (b"\x80\x04\x8c\x08builtins\x8c\x04eval\x93.", "builtins.eval"),
        (b"cnumpy\nload\n.", "numpy.load"),
    ] {
        let error = read(bytes).unwrap_err();
        assert!(error.contains(&format!("`{name}`")), "{error}");
    }
    assert!(read(b"Pid\n.").unwrap_err().contains("persistent"));
    assert!(read(b"(I1\nios\nsystem\n.").unwrap_err().contains("class"));
}

#[test]
fn false_lengths_and_broken_stacks_are_errors() {
    let cases = [
        &b""[..],
        b".",
        b"0.",
        b"t.",
        b"K",
        b"T\xff\xff\xff\xff.",
        b"\x8e\xff\xff\xff\xff\xff\xff\xff\xff.",
        b"h\x01.",
        b"]a.",
        b"(K\x01u.",
        b"}(K\x01u.",
        b"K\x01R.",
        b"]b.",
        b"(0.",
        b"\x80\x09.",
        b"Ix\n.",
        b"\x8a\x09\0\0\0\0\0\0\0\0\0.",
        b"S'a\n.",
        b"S'\\x1'\n.",
        b"V\\u12\n.",
        b"\x93.",
        b"NN\x93.",
    ];
    for bytes in cases {
        assert!(read(bytes).is_err(), "{bytes:?}");
    }
    let array = b"cnumpy.core.multiarray\n_reconstruct\n)R(K\x01K\x05\x85cnumpy\ndtype\n(U\x02i4K\x00K\x01tR\x89U\x04abcdtb.";
    let pickle = read(array).unwrap();
    assert!(pickle.array(pickle.root()).unwrap_err().contains("shape [5] has 4 bytes"));
}

#[test]
fn a_list_that_holds_itself_is_no_danger() {
    let pickle = read(b"]q\x00h\x00a.").unwrap();
    assert_eq!(pickle.sequence(pickle.root()), Some(&[pickle.root()][..]));
    assert!(pickle.array(pickle.root()).is_err() && pickle.matrix(pickle.root()).is_err());
}

/// Pieces that pickles are made of, so that random ones get somewhere.
fn any_pieces() -> impl Strategy<Value = Vec<u8>> {
    let words: Vec<&'static [u8]> = vec![
        b"(",
        b".",
        b"0",
        b"1",
        b"2",
        b"N",
        b"]",
        b")",
        b"}",
        b"l",
        b"t",
        b"d",
        b"a",
        b"e",
        b"s",
        b"u",
        b"K\x02",
        b"q\x00",
        b"h\x00",
        b"R",
        b"b",
        b"\x81",
        b"\x85",
        b"\x86",
        b"\x87",
        b"\x88",
        b"\x90",
        b"\x94",
        b"cnumpy.core.multiarray\n_reconstruct\n",
        b"cnumpy\ndtype\n",
        b"cscipy.sparse.csr\ncsr_matrix\n",
        b"U\x02i4",
        b"U\x04\x01\0\0\0",
        b"U\x01<",
        b"U\x06indptr",
        b"U\x04data",
        b"U\x07indices",
        b"U\x05shape",
        b"c_codecs\nencode\n",
        b"ccollections\ndefaultdict\n",
        b"cnumpy.core.multiarray\nscalar\n",
        b"cnumpy.core.numeric\n_frombuffer\n",
        b"ccopy_reg\n_reconstructor\n",
    ];
    proptest::collection::vec(proptest::sample::select(words), 0..60)
        .prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn any_bytes_are_a_value_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        if let Ok(pickle) = read(&bytes) {
            let _ = (pickle.array(pickle.root()), pickle.matrix(pickle.root()));
        }
    }

    #[test]
    fn any_pieces_are_a_value_or_an_error(bytes in any_pieces()) {
        if let Ok(pickle) = read(&bytes) {
            let _ = (pickle.array(pickle.root()), pickle.matrix(pickle.root()));
        }
    }

    #[test]
    fn damaged_pickles_are_a_value_or_an_error(at in 0..PROTOCOL_2.len(), byte in any::<u8>(), cut in 0..PROTOCOL_2.len()) {
        for sound in [PROTOCOL_0, PROTOCOL_2] {
            let mut bytes = sound.to_vec();
            bytes[at.min(sound.len() - 1)] = byte;
            let _ = read(&bytes);
            bytes.truncate(cut);
            let _ = read(&bytes);
        }
    }
}
