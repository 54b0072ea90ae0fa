//! The rows of the table, one file each: a workload, its bare companion, its goals.

pub(crate) mod absent;
pub(crate) mod build;
pub(crate) mod commit;
pub(crate) mod fan_out;
pub(crate) mod flood;
pub(crate) mod growth;
pub(crate) mod idle;
pub(crate) mod many;
pub(crate) mod model;
pub(crate) mod open;
pub(crate) mod paced;
pub(crate) mod start;
