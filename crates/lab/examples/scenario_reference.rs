//! Prints the reference of scenario files: `cargo run -p subflow-lab --example scenario_reference > scenarios/REFERENCE.md`.

fn main() {
    print!("{}", subflow_lab::scenario::schema::reference());
}
