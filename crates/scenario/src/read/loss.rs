//! `loss = …`.

use subflow_network::{GilbertElliott, LossConfig, LossPosition};
use subflow_quantity::Probability;

use super::traces::Traces;
use crate::file::{Field, Problem, Section, Value};
use crate::schema::{self, LOSS_MODELS, LOSS_POSITIONS, LossModel};

const EXPECTED: &str = "a probability such as \"1 %\", \"none\", or a table with a model";

/// The loss model and its position.
pub(super) fn read(field: &Field<'_>, traces: &Traces) -> Result<(LossConfig, LossPosition), Problem> {
    match field.value() {
        Value::String(text) if text == "none" => return Ok((LossConfig::None, LossPosition::AfterQueue)),
        Value::Table(_) => {}
        _ => return Ok((bernoulli(field)?, LossPosition::AfterQueue)),
    }
    let section = field.section(&schema::LOSS)?;
    let model = section.required("model")?;
    let model = model.choice("a loss model", &LOSS_MODELS)?;
    let position = section.value("position").choice("a position", &LOSS_POSITIONS)?;
    let config = match model {
        LossModel::Bernoulli => bernoulli(&section.needed("probability", "bernoulli")?)?,
        LossModel::GilbertElliott => LossConfig::GilbertElliott(GilbertElliott {
            good_to_bad: probability(&section.needed("good_to_bad", "gilbert-elliott")?)?,
            bad_to_good: probability(&section.needed("bad_to_good", "gilbert-elliott")?)?,
            loss_in_bad: probability(&section.value("loss_in_bad"))?,
            loss_in_good: probability(&section.value("loss_in_good"))?,
        }),
        LossModel::Trace => LossConfig::Trace(traces.loss(&section.needed("file", "trace")?)?),
    };
    Ok((config, position))
}

fn bernoulli(field: &Field<'_>) -> Result<LossConfig, Problem> {
    let p: Probability = field.quantity(EXPECTED)?;
    Ok(if p == Probability::NEVER { LossConfig::None } else { LossConfig::Bernoulli(convert(p)) })
}

/// A probability in the representation of the network.
pub(super) fn probability(field: &Field<'_>) -> Result<subflow_network::Probability, Problem> {
    field.quantity("a probability such as \"1 %\"").map(convert)
}

fn convert(p: Probability) -> subflow_network::Probability {
    subflow_network::Probability::new(p.as_f64()).expect("a probability is from 0 to 1")
}

impl<'a> Section<'a> {
    /// A key that the model requires.
    fn needed(&self, key: &'static str, model: &str) -> Result<Field<'a>, Problem> {
        self.given(key).ok_or_else(|| {
            self.field()
                .problem(format!("{key} is missing, expected a value for it: the model is {model}"))
                .label(format!("{key} is missing"))
        })
    }
}
