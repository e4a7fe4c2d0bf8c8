//! Prints the reference of scenario files: `cargo run -p subflow-scenario --example scenario_reference >
//! scenarios/REFERENCE.md`.

fn main() {
    print!("{}", subflow_scenario::schema::reference());
}
