//! The question of federated averaging: some steps of gradient ascent at the site.

use super::reply::reply;
use super::shared::{WEIGHT, check_parameters, check_finite, check_steps, count};
use super::{Axis, Bound, BySite, Conditions, Malformed, Shape, SumQuestion, Times, Unplanned};
use crate::centre::Plan;
use crate::centre::Layout;
use crate::exchange::{Effects, Point, Request};
use crate::site::{Depth, SiteView};
use crate::statistics::{Mode, Statistic};
use serde::{Deserialize, Serialize};

const TRAINED_PARAMETERS: Statistic =
    Statistic::plain_sum("trained_parameters", "item parameters after local training, times students");
const TRAINED_EFFECT: Statistic =
    Statistic::by_site("trained_effect", "the school effect after local training", &[Mode::Plain]);

/// Some steps of gradient ascent on the site's own likelihood.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Train {
    /// Slopes and difficulties, item after item.
    pub items: Vec<f64>,
    /// Effect of each site, in the order of the cohort.
    pub effects: Vec<f64>,
    /// Sites that take part in this round. The others send zeros.
    pub chosen: Vec<usize>,
    /// Steps.
    pub epochs: usize,
    /// Step size on the mean log-likelihood per student.
    pub learning_rate: f64,
}

reply! {
    /// Where training at the sites ended.
    struct TrainReply to |_question: Train, request| {
        /// Sum of the weights of the students who took part.
        weight: f64 = WEIGHT => count(),
        /// Slopes and difficulties after training, times the site's weight.
        parameters: Vec<f64> = TRAINED_PARAMETERS =>
            (Shape::Vector(Axis::parameters(&request.design)), Bound::per_student(1e4)),
        /// Each site's effect after training.
        effect: BySite<1> = TRAINED_EFFECT => (Shape::scalar(), Bound::per_site(32.0)),
    }
}

impl SumQuestion for Train {
    type Reply = TrainReply;

    fn points(&self, request: &Request) -> Vec<Vec<f64>> {
        // Without difficulties there is nothing to train: `check` refuses such designs.
        let Some(layout) = Layout::new(&request.design, 0) else { return Vec::new() };
        let mut x = vec![0.0; layout.size];
        layout.set_items(&request.design, &self.items, &mut x);
        vec![layout.psi(&request.design, &x)]
    }

    fn conditions(&self) -> Conditions {
        Conditions {
            opening: false,
            differs_by_site: true,
            publishes_effects: false,
            tells_own_effect: false,
            by_student: false,
        }
    }

    fn planned(&self, _plan: &Plan) -> Result<Times, Unplanned> {
        Ok(Times::EachRound)
    }

    fn check(&self, request: &Request) -> Result<(), Malformed> {
        check_parameters(request, &self.items)?;
        check_steps(self.epochs)?;
        if Layout::new(&request.design, 0).is_none() {
            return Err(Malformed::NoDifficulties);
        }
        check_finite("site effects", &self.effects)?;
        check_finite("the learning rate", &[self.learning_rate])
    }

    /// Training starts where published studies start, slopes 1 and difficulties 0, whatever the point.
    fn at(&self, request: &Request, _point: &Point, sites: usize) -> Self {
        let design = &request.design;
        let items = Layout::new(design, 0).map(|layout| layout.items(design, &layout.start(design)));
        let items = items.unwrap_or_default();
        Self { items, effects: vec![0.0; sites], chosen: (0..sites).collect(), ..*self }
    }

    /// Steps of gradient ascent on the site's mean log-likelihood, in slopes and difficulties.
    fn answer(&self, site: &SiteView<'_>) -> TrainReply {
        let design = site.data.design();
        let weight = site.data.total_weight;
        let takes_part = self.chosen.contains(&site.index) && weight > 0.0;
        let Some(layout) = Layout::new(design, 1).filter(|_| takes_part) else {
            let parameters = vec![0.0; design.parameters()];
            return TrainReply { weight: 0.0, parameters, effect: BySite::own([0.0]) };
        };
        let mut x = vec![0.0; layout.size];
        layout.set_items(design, &self.items, &mut x);
        let fixed = site.request.effects == Effects::Fixed;
        x[layout.effects] = if fixed { site.own(&self.effects) } else { 0.0 };
        for _ in 0..self.epochs {
            let here = layout.psi(design, &x);
            let e = site.data.evaluate(&here, x[layout.effects], site.population, Depth::Gradient);
            let own = if fixed { e.gradient[design.parameters()] } else { 0.0 };
            let g = layout.gradient(design, &x, &e.gradient[..design.parameters()], &[own]);
            let mut rate = self.learning_rate / weight;
            loop {
                let next: Vec<f64> = x.iter().zip(&g).map(|(x, g)| x + rate * g).collect();
                if design.admissible(&layout.psi(design, &next)) || rate < 1e-12 {
                    x = next;
                    break;
                }
                rate /= 2.0;
            }
        }
        TrainReply {
            weight,
            parameters: layout.items(design, &x).iter().map(|v| v * weight).collect(),
            effect: BySite::own([x[layout.effects]]),
        }
    }
}
