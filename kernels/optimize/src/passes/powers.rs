//! powers: replaces powers of small integers by products.
//!
//! reason    a general power costs a logarithm and an exponential; `x ** 2` is one multiplication
//! keeps     the value as a real number: the product is rounded correctly, where a library's power
//!           may be off in the last place
//! never     replaces `x ** 0.5` by a square root: they differ at -0 and -inf
use super::{Choice, constant_folding::constant, rebuild::rebuild};
use warploom_ir::{Binary, Data, Gir, Number, Op, Unary};

/// The program with such powers as products.
pub(super) fn run(gir: Gir, data: &Data, _choices: &mut Vec<Choice>) -> Gir {
    rebuild(&gir, data, None, &mut |builder, site| {
        let (Op::Binary(Binary::Power), &[a, b]) = (&site.node.op, site.inputs) else {
            return Ok(None);
        };
        match constant(builder, b) {
            Some(Number::Real(2.0)) => builder.unary(Unary::Square, a).map(Some),
            Some(Number::Real(1.0)) => Ok(Some(a)),
            Some(Number::Real(-1.0)) => builder.unary(Unary::Reciprocal, a).map(Some),
            _ => Ok(None),
        }
    })
}
