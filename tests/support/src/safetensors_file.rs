//! safetensors_file: arrays as a user has them, put together by hand.
//!
//! promises  lists of whole numbers of 64 bits, in the order given
//! never     reads what it wrote

/// The bytes of a file with these lists.
pub fn tensors(lists: &[(&str, &[i64])]) -> Vec<u8> {
    let (mut header, mut data) = (Vec::new(), Vec::new());
    for (name, values) in lists {
        let begin = data.len();
        values.iter().for_each(|value| data.extend_from_slice(&value.to_le_bytes()));
        header.push(format!(
            "\"{name}\":{{\"dtype\":\"I64\",\"shape\":[{}],\"data_offsets\":[{begin},{}]}}",
            values.len(),
            data.len()
        ));
    }
    let header = format!("{{{}}}", header.join(","));
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &data].concat()
}
