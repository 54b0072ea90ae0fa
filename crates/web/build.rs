//! The page is embedded at compile time: a page that was built anew must be embedded anew.

fn main() {
    println!("cargo:rerun-if-changed=../../ui/dist");
    println!("cargo:rerun-if-changed=build.rs");
}
