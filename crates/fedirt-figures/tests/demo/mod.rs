//! Invented results of studies, as pictures and as a page.

use fedirt_figures::{
    Block, Figure, PanelPoint, PanelRow, Panels, RebuiltRows, SideBySide, SideColumn, SideEstimate,
    StudyPage, StudySection, Table, panels, rebuilt_rows, side_by_side, study_page,
};

/// A number in ±1 that looks random and is the same on every machine.
fn wobble(i: usize) -> f64 {
    ((i * 7919 + 104_729) % 2003) as f64 / 1001.0 - 1.0
}

fn strings(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

const METHODS: [&str; 10] = [
    "Federated, Newton",
    "Pooled (mirt)",
    "As published",
    "Federated, private ε = 1",
    "Private ε = 4",
    "Meta-analysis",
    "Random effects",
    "EM",
    "BFGS",
    "Single school",
];

/// Bias and RMSE against the number of students.
pub(crate) fn recovery(columns: usize, methods: usize) -> Panels {
    let sizes = [30.0, 100.0, 300.0, 1000.0];
    let mut points = Vec::new();
    for (row, column, series) in (0..3 * columns * methods).map(|i| (i % 3, i / 3 % columns, i / 3 / columns))
    {
        for x in sizes {
            let i = points.len();
            let size = (0.6 + 0.25 * series as f64) / f64::sqrt(x);
            let y = match row {
                0 => 0.4 * size * wobble(i),
                1 => size * (1.0 + 0.1 * wobble(i)),
                _ => 0.95 - 0.01 * series as f64 + 0.01 * wobble(i),
            };
            points.push(PanelPoint { row, column, series, x, y, error: Some(0.06 * size) });
        }
    }
    points[5].y = 40.0;
    points[7].y = f64::NAN;
    Panels {
        title: "Recovery of item difficulties".into(),
        description: "Bias, RMSE and coverage of difficulties against students per school.".into(),
        rows: vec![
            PanelRow { label: "Bias of b".into(), log: false, zero: true },
            PanelRow { label: "RMSE of b".into(), log: true, zero: false },
            PanelRow { label: "Coverage of 95 % intervals".into(), log: false, zero: false },
        ],
        columns: [5, 10, 20, 50, 100].iter().take(columns).map(|k| format!("K = {k} schools")).collect(),
        x_label: "Students per school Nₖ".into(),
        x_ticks: sizes.map(|x| (x, format!("{x}"))).to_vec(),
        x_log: true,
        series: strings(&METHODS[..methods]),
        points,
        bars: None,
        notes: strings(&["Means over 200 replications."]),
    }
}

/// Estimates of items or schools.
pub(crate) fn comparison(rows: usize, methods: usize, schools: bool) -> SideBySide {
    let columns = if schools {
        vec![SideColumn { label: "School effect s".into(), zero: true }]
    } else {
        ["Slope a", "Difficulty b"].map(|label| SideColumn { label: label.into(), zero: false }).to_vec()
    };
    let mut estimates = Vec::new();
    for row in 0..rows {
        for column in 0..columns.len() {
            for method in 0..methods {
                let i = estimates.len();
                let place =
                    if column == 0 && !schools { 1.1 + 0.3 * wobble(row) } else { 1.5 * wobble(7 * row) };
                let se = (method != 1).then_some(0.08 + 0.03 * wobble(i).abs());
                estimates.push(SideEstimate { row, column, method, value: place + 0.05 * wobble(i), se });
            }
        }
    }
    let name = |row: usize| {
        if schools {
            format!("School {}", row + 1)
        } else {
            format!("M{:03}Q{:02}", 155 + 7 * row, row % 4 + 1)
        }
    };
    SideBySide {
        title: if schools { "School effects by method" } else { "Item parameters by method" }.into(),
        description: "Estimates with 95 % intervals.".into(),
        row_label: if schools { "School" } else { "Item" }.into(),
        rows: (0..rows).map(name).collect(),
        columns,
        methods: strings(&METHODS[..methods]),
        estimates,
        notes: Vec::new(),
    }
}

/// What an attack rebuilds in a school of that size.
pub(crate) fn attack(of: usize) -> RebuiltRows {
    let block = |heading: &str, sentence: &str, rebuilt: usize| Block {
        heading: heading.into(),
        sentence: sentence.into(),
        rebuilt,
        guessed: of * 14 / 50,
        of,
    };
    RebuiltRows {
        title: "Whole rows of answers rebuilt from what is sent".into(),
        description: "Students whose answers an attacker rebuilds, by protocol.".into(),
        blocks: vec![
            block(
                "As published: gradients of each school",
                "The coordinator sees every school's gradient in every round.",
                of,
            ),
            block("Secure: only the sum of all schools", "The coordinator sees one sum a round.", of / 12),
            block("Private, ε = 1", "The sum carries noise that hides any one student.", 0),
        ],
        notes: Vec::new(),
    }
}

/// Rounds and bytes: one panel a measure.
pub(crate) fn cost() -> Panels {
    let mut points = Vec::new();
    for (row, series) in (0..6).map(|i| (i % 2, i / 2)) {
        for (k, x) in [10.0, 50.0, 200.0, 1000.0].into_iter().enumerate() {
            let rounds = [6.0, 60.0, 240.0][series] * (1.0 + 0.05 * k as f64);
            let y = if row == 0 { rounds } else { rounds * 812.0 };
            points.push(PanelPoint { row, column: 0, series, x, y, error: None });
        }
    }
    Panels {
        title: "Rounds and bytes until convergence".into(),
        description: "Rounds, and bytes that a school sends, against the number of schools.".into(),
        rows: ["Rounds", "Bytes sent by a school"]
            .map(|label| PanelRow { label: label.into(), log: true, zero: false })
            .to_vec(),
        columns: strings(&[""]),
        x_label: "Schools K".into(),
        x_ticks: [10.0, 50.0, 200.0, 1000.0].map(|x| (x, format!("{x}"))).to_vec(),
        x_log: true,
        series: strings(&["Newton", "EM", "Gradient descent"]),
        bars: None,
        points,
        notes: Vec::new(),
    }
}

/// Every picture with a name for its file.
pub(crate) fn all() -> Vec<(&'static str, Figure)> {
    vec![
        ("panels-3", panels(&recovery(3, 4))),
        ("panels-5-of-10", panels(&recovery(5, 10))),
        ("panels-1", panels(&recovery(1, 3))),
        ("cost", panels(&cost())),
        ("items", side_by_side(&comparison(14, 4, false))),
        ("schools", side_by_side(&comparison(60, 3, true))),
        ("attack-50", rebuilt_rows(&attack(50))),
        ("attack-300", rebuilt_rows(&attack(300))),
    ]
}

/// The page of all of them.
pub(crate) fn page() -> String {
    let mut figures = all().into_iter().map(|(_, figure)| figure);
    let mut table = Table::new("Replications that converged", &["Method", "K", "Converged", "of"]);
    table.rows =
        METHODS.iter().map(|m| vec![(*m).to_owned(), "10".into(), "198".into(), "200".into()]).collect();
    let section = |heading: &str, figures: Vec<Figure>, tables: Vec<Table>| StudySection {
        heading: heading.into(),
        paragraphs: strings(&[
            "Two hundred replications of each condition, with the seeds given under Settings.",
        ]),
        figures,
        tables,
    };
    study_page(&StudyPage {
        title: "Study 1: recovery of parameters without pooling answers".into(),
        run: "T = 200 replications, seed 4711".into(),
        lead: strings(&[
            "Federated estimates equal those of pooled data to the last printed digit.",
            "With 100 students per school, RMSE of difficulties is 0.06 (Monte Carlo SE 0.002).",
            "The published protocol lets a coordinator rebuild every answer; the secure one does not.",
        ]),
        sections: vec![
            section("Recovery", figures.by_ref().take(4).collect(), vec![table]),
            section("Methods compared", figures.by_ref().take(2).collect(), Vec::new()),
            section("Attack", figures.collect(), Vec::new()),
        ],
        settings: [
            ("Replications", "200"),
            ("Seed", "4711"),
            ("Model", "2PL, a ~ lognormal(0, 0.3), b ~ N(0, 1)"),
        ]
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec(),
        files: [
            ("panels-3.png", "The first figure"),
            ("results.csv", "One line for each replication and method"),
        ]
        .map(|(name, what)| (name.to_owned(), what.to_owned()))
        .to_vec(),
        version: "0.1.0".into(),
    })
}
