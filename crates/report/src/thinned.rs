//! Fewer points for the same picture.

use super::figure::CurvePoint;

/// At most about `most` of the points: the first, the last, and of each stretch the smallest and the largest, so that
/// no extreme is lost.
pub(super) fn thinned(points: Vec<CurvePoint>, most: usize) -> Vec<CurvePoint> {
    if points.len() <= most.max(4) {
        return points;
    }
    let stretch = points.len().div_ceil((most / 2).max(1));
    let mut kept = vec![0];
    for (number, part) in points.chunks(stretch).enumerate() {
        let index = |extreme: Option<(usize, &CurvePoint)>| extreme.map_or(0, |(index, _)| number * stretch + index);
        let by_value = |a: &(usize, &CurvePoint), b: &(usize, &CurvePoint)| a.1.y.total_cmp(&b.1.y);
        let low = index(part.iter().enumerate().min_by(by_value));
        let high = index(part.iter().enumerate().max_by(by_value));
        kept.extend([low.min(high), low.max(high)]);
    }
    kept.push(points.len() - 1);
    kept.dedup();
    kept.into_iter().map(|index| points[index]).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn extremes_and_ends_are_kept_in_order(values in prop::collection::vec(-1e6..1e6f64, 1..500), most in 0..100usize) {
            let point = |(x, y): (usize, &f64)| CurvePoint { x: x as f64, y: *y, interval: None };
            let points: Vec<CurvePoint> = values.iter().enumerate().map(point).collect();
            let few = thinned(points.clone(), most);
            prop_assert!(few.len() <= most.max(4) + 2);
            prop_assert!(few.windows(2).all(|pair| pair[0].x < pair[1].x));
            prop_assert_eq!((few[0], few[few.len() - 1]), (points[0], points[points.len() - 1]));
            for extreme in [f64::max, f64::min] {
                let of = |points: &[CurvePoint]| points.iter().map(|point| point.y).reduce(extreme);
                prop_assert_eq!(of(&few), of(&points));
            }
        }
    }
}
