//! Macros that make one type of all algorithms of a kind.
//!
//! A kind has a macro with the list of its types, which passes the list to another macro:
//!
//! ```text
//! macro_rules! schedulers {
//!     ($macro:ident! $($arguments:tt)*) => {
//!         $macro! { [LowestLatency RoundRobin] [Custom CustomScheduler: Scheduler] $($arguments)* }
//!     };
//! }
//! schedulers! { catalogue! /// One of the schedulers. Scheduling }
//! ```
//!
//! `catalogue!` declares the enum with a variant for each type and a custom one, and implements
//! [`Catalogue`](super::Catalogue); for the custom one it also declares the trait of algorithms of other crates.
//! `dispatch!` calls a method of the algorithm in it: a match with one arm per type, without a dynamic call.
//!
//! They are exported for the crate `network`, whose loss models are a kind, too, and for nobody else.

/// Declares the type of all algorithms of a kind; see `catalogue/list.rs`.
#[doc(hidden)]
#[macro_export]
macro_rules! catalogue {
    (
        [$($variant:ident)+] [$($custom:ident $custom_trait:ident: $algorithm:ident)?]
        $(#[$meta:meta])* $name:ident
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug)]
        #[non_exhaustive]
        pub enum $name {
            $(#[doc = concat!("See [`", stringify!($variant), "`].")] $variant($variant),)+
            $(
                /// One that is not in the catalogue, with its name.
                $custom(std::sync::Arc<str>, Box<dyn $custom_trait>),
            )?
        }

        $(
            impl From<$variant> for $name {
                fn from(algorithm: $variant) -> Self {
                    Self::$variant(algorithm)
                }
            }
        )+

        impl $name {
            /// Their names, in listing order.
            pub const NAMES: &'static [&'static str] =
                &[$(<$variant as $crate::catalogue::Catalogued>::DESCRIPTION.name),+];

            /// The built-in one with this name or alias, with every option at its default.
            pub fn from_name(name: &str) -> Option<Self> {
                $(
                    if <$variant as $crate::catalogue::Catalogued>::DESCRIPTION.is_called(name) {
                        return Some(Self::$variant(Default::default()));
                    }
                )+
                None
            }

            /// Its name in the catalogue, or that of a custom one.
            pub fn name(&self) -> &str {
                match self {
                    $(Self::$variant(_) => <$variant as $crate::catalogue::Catalogued>::DESCRIPTION.name,)+
                    $(Self::$custom(name, _) => name,)?
                }
            }
        }

        impl $crate::catalogue::Catalogue for $name {
            const ALL: &'static [$crate::catalogue::Description] =
                &[$(<$variant as $crate::catalogue::Catalogued>::DESCRIPTION),+];

            fn from_name(name: &str) -> Option<Self> {
                Self::from_name(name)
            }

            fn prototypes() -> Vec<Self> {
                vec![$(Self::$variant(Default::default())),+]
            }

            fn name(&self) -> &str {
                self.name()
            }

            fn configurable(&self) -> Option<&dyn $crate::catalogue::Configurable> {
                match self {
                    $(Self::$variant(algorithm) => Some(algorithm),)+
                    $(Self::$custom(..) => None,)?
                }
            }

            fn configurable_mut(&mut self) -> Option<&mut dyn $crate::catalogue::Configurable> {
                match self {
                    $(Self::$variant(algorithm) => Some(algorithm),)+
                    $(Self::$custom(..) => None,)?
                }
            }
        }

        $(
            #[doc = concat!(
                "One of another crate that can be [`", stringify!($name), "::Custom`]: any type that implements [`",
                stringify!($algorithm), "`], [`Clone`] and [`Debug`](core::fmt::Debug)."
            )]
            pub trait $custom_trait: $algorithm + core::fmt::Debug + Send + Sync {
                /// A copy with the same state.
                fn clone_boxed(&self) -> Box<dyn $custom_trait>;
            }

            impl<T: $algorithm + Clone + core::fmt::Debug + Send + Sync + 'static> $custom_trait for T {
                fn clone_boxed(&self) -> Box<dyn $custom_trait> {
                    Box::new(self.clone())
                }
            }

            impl Clone for Box<dyn $custom_trait> {
                fn clone(&self) -> Self {
                    (**self).clone_boxed()
                }
            }
        )?
    };
}

/// Calls a method of the algorithm in a value of such a type; see `catalogue/list.rs`.
#[doc(hidden)]
#[macro_export]
macro_rules! dispatch {
    (
        [$($variant:ident)+] [$($custom:ident $custom_trait:ident: $kind:ident)?]
        $self:expr, $algorithm:ident => $call:expr
    ) => {
        match $self {
            $(Self::$variant($algorithm) => $call,)+
            $(Self::$custom(_, $algorithm) => $call,)?
        }
    };
}

pub use {catalogue, dispatch};
