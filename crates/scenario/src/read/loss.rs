//! `loss = …`.

use subflow_network::{Bernoulli, LossModel, LossPosition, PacketLoss};
use subflow_policy::catalogue;
use subflow_quantity::Probability;

use super::algorithms;
use super::traces::Traces;
use crate::file::{Field, Problem, Value};
use crate::schema::{self, LOSS_POSITIONS};

/// The loss model and its position.
pub(super) fn read(field: &Field<'_>, traces: &Traces) -> Result<(Option<LossModel>, LossPosition), Problem> {
    match field.value() {
        Value::String(text) if text == "none" => return Ok((None, LossPosition::AfterQueue)),
        Value::Table(_) => {}
        _ => {
            let probability: Probability =
                field.quantity("a probability such as \"1 %\", \"none\", or a table with a model")?;
            return Ok((effective(Bernoulli::new(probability.into()).into()), LossPosition::AfterQueue));
        }
    }
    let section = field.section(&schema::LOSS)?;
    let of_link = |field: &Field<'_>| traces.loss(field).map(catalogue::Value::Pattern);
    let model = algorithms::in_section(&section, &section.required("model")?, "a loss model", &[], &of_link)?;
    Ok((effective(model), section.value("position").choice("a position", &LOSS_POSITIONS)?))
}

fn effective(model: LossModel) -> Option<LossModel> {
    (!model.never_loses()).then_some(model)
}

/// A probability in the representation of the network.
pub(super) fn probability(field: &Field<'_>) -> Result<subflow_network::Probability, Problem> {
    field.quantity("a probability such as \"1 %\"").map(|probability: Probability| probability.into())
}
