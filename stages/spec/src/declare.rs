//! declare: the macros that declare settings: `spec!` for a section, `choices!` for a list of
//! words, `one_of!` for a choice between sections.
//!
//! promises  a field is declared once, with type, default, range, unit and explanation; decoding,
//!           schema and help are generated from it
//! never     leaves a field out of the document, the schema or the decoding

/// Declares a section: a struct, its defaults, its strict decoding, its document and the
/// description of its fields.
macro_rules! spec {
    (
        $(#[doc = $about:literal])*
        $view:vis $spec:ident {
            $(
                $(#[doc = $doc:literal])*
                $field:ident: $type:ty = $default:expr
                $(, range($range:expr))? $(, unit($unit:literal))? $(, hint($hint:literal))? $(, example($example:literal))?;
            )*
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, PartialEq)]
        $view struct $spec {
            $( $(#[doc = $doc])* pub $field: $type, )*
        }

        impl Default for $spec {
            fn default() -> Self {
                Self { $( $field: $default, )* }
            }
        }

        impl $crate::field::Spec for $spec {
            fn document(&self) -> serde_json::Value {
                $crate::field::sorted_object([
                    $( (stringify!($field).to_string(), $crate::types::FieldType::document(&self.$field)), )*
                ])
            }

            fn fields() -> Vec<$crate::field::FieldDoc> {
                let _default = Self::default();
                vec![ $( $crate::field::FieldDoc {
                    name: stringify!($field),
                    doc: $crate::field::paragraph(&[$($doc),*]),
                    shape: <$type as $crate::types::FieldType>::shape(),
                    default: $crate::types::FieldType::document(&_default.$field),
                    range: $crate::declare::given!($($range)?),
                    unit: $crate::declare::given!($($unit)?),
                    hint: $crate::declare::given!($($hint)?),
                    example: $crate::declare::given!($($example)?),
                }, )* ]
            }
        }

        impl $crate::types::FieldType for $spec {
            fn shape() -> $crate::field::Shape {
                $crate::field::Shape::Section(<Self as $crate::field::Spec>::fields())
            }

            fn decode(node: &$crate::node::Node, at: &$crate::reader::SettingContext<'_>, reader: &mut $crate::reader::Reader<'_>) -> Option<Self> {
                let fields = at.field.shape.children();
                let mut _spec = Self::default();
                for entry in reader.section(node, at, fields)? {
                    let _inner = at.inner(entry.field, entry.key);
                    match entry.field.name {
                        $( stringify!($field) => {
                            if let Some(value) = $crate::types::FieldType::decode(entry.node, &_inner, reader) {
                                _spec.$field = value;
                            }
                        } )*
                        _ => {}
                    }
                }
                Some(_spec)
            }

            fn document(&self) -> serde_json::Value {
                $crate::field::Spec::document(self)
            }
        }
    };
}

/// `Some(x)` for `x`, `None` for nothing.
macro_rules! given {
    () => {
        None
    };
    ($value:expr) => {
        Some($value)
    };
}

/// Declares a list of words of which a setting takes one.
macro_rules! choices {
    (
        $(#[doc = $about:literal])*
        $choice:ident { $( $(#[doc = $doc:literal])* $variant:ident = $name:literal, )+ }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $choice {
            $( $(#[doc = $doc])* $variant, )+
        }

        impl $choice {
            /// Every choice, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word in YAML.
            pub const fn name(self) -> &'static str {
                match self { $( Self::$variant => $name, )+ }
            }
        }

        impl std::fmt::Display for $choice {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(self.name())
            }
        }

        impl $crate::types::FieldType for $choice {
            fn shape() -> $crate::field::Shape {
                $crate::field::Shape::Choice(vec![
                    $( $crate::field::ChoiceDoc { name: $name, doc: concat!($($doc),*).trim_ascii() }, )+
                ])
            }

            fn decode(node: &$crate::node::Node, at: &$crate::reader::SettingContext<'_>, reader: &mut $crate::reader::Reader<'_>) -> Option<Self> {
                let index = reader.choice(node, at, &[$($name),+])?;
                Self::ALL.get(index).copied()
            }

            fn document(&self) -> serde_json::Value {
                $crate::types::word(self.name())
            }
        }
    };
}

/// Declares a choice between sections: a mapping with exactly one of the keys.
macro_rules! one_of {
    (
        $(#[doc = $about:literal])*
        $choice:ident { $( $(#[doc = $doc:literal])* $variant:ident($type:ty) = $name:literal, )+ }
    ) => {
        $(#[doc = $about])*
        #[derive(Clone, Debug, PartialEq)]
        pub enum $choice {
            $( $(#[doc = $doc])* $variant($type), )+
        }

        impl $choice {
            /// The key in YAML.
            pub const fn name(&self) -> &'static str {
                match self { $( Self::$variant(_) => $name, )+ }
            }
        }

        impl $crate::types::FieldType for $choice {
            fn shape() -> $crate::field::Shape {
                $crate::field::Shape::OneOf(vec![ $( $crate::field::FieldDoc {
                    name: $name,
                    doc: $crate::field::paragraph(&[$($doc),*]),
                    shape: <$type as $crate::types::FieldType>::shape(),
                    default: $crate::field::sorted_object([]),
                    range: None,
                    unit: None,
                    hint: None,
                    example: None,
                }, )+ ])
            }

            fn decode(node: &$crate::node::Node, at: &$crate::reader::SettingContext<'_>, reader: &mut $crate::reader::Reader<'_>) -> Option<Self> {
                let entry = reader.only_entry(node, at)?;
                let inner = at.inner(entry.field, entry.key);
                match entry.field.name {
                    $( $name => <$type as $crate::types::FieldType>::decode(entry.node, &inner, reader).map(Self::$variant), )+
                    _ => None,
                }
            }

            fn document(&self) -> serde_json::Value {
                match self {
                    $( Self::$variant(spec) => $crate::field::sorted_object([($name.to_string(), $crate::types::FieldType::document(spec))]), )+
                }
            }
        }
    };
}

pub(crate) use {choices, given, one_of, spec};
