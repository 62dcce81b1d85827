//! What an AI assistant is told of what the tables count.

use std::sync::Arc;

use traceview_core::analysis::{self, Measure, StackValues, slices_as_samples};
use traceview_core::model::{Profile, TimeRange};
use traceview_core::report::{AiForm, AiOptions, AiSubject, ai_text};

use crate::analyses::Tables;
use crate::document::Document;
use crate::jobs::{Job, Jobs};
use crate::selection::Selection;

/// As much as an assistant reads gladly: some ten thousand tokens.
const BUDGET: usize = 40_000;

/// What the text is made of.
struct Wanted {
    document: Arc<Document>,
    selection: analysis::Selection,
    filters: Vec<String>,
    tables: Option<Arc<Tables>>,
}

/// Has the text made of what `tables` count, or of slices where there are none; instead of it there may be a sentence that says
/// why not.
pub(super) fn start(
    document: &Arc<Document>,
    selection: &Selection,
    tables: Option<&Arc<Tables>>,
    jobs: &Jobs,
) -> Job<Result<String, String>> {
    let wanted = Wanted {
        document: Arc::clone(document),
        selection: selection.for_analysis(),
        filters: filters(document, selection),
        tables: tables.map(Arc::clone),
    };
    jobs.start("text for an assistant", move |_| wanted.text())
}

impl Wanted {
    fn text(&self) -> Result<String, String> {
        let profile = &*self.document.profile;
        let range = self.selection.range;
        match &self.tables {
            Some(tables) if !tables.tree.is_empty() => self.text_of(profile, &tables.values, &self.selection),
            _ if profile.threads.iter().any(|thread| !thread.slices.is_empty()) => {
                let profile = slices_as_samples(profile, range);
                let selection = analysis::Selection { range: TimeRange::ALL, ..self.selection.clone() };
                let values =
                    StackValues::of(&profile, &selection, Measure::Slices).map_err(|error| error.to_string())?;
                self.text_of(&profile, &values, &selection)
            }
            _ => Err("nothing is counted that there could be a text of".to_owned()),
        }
    }

    fn text_of(
        &self,
        profile: &Profile,
        values: &StackValues,
        selection: &analysis::Selection,
    ) -> Result<String, String> {
        let file = self.document.path.as_ref().map(|path| path.display().to_string());
        let subject =
            AiSubject { selection, range: self.selection.range, file: file.as_deref(), filters: &self.filters };
        let options = AiOptions { form: AiForm::Lines, min_percent: AiOptions::MIN_PERCENT, budget: Some(BUDGET) };
        ai_text(profile, values, &subject, options).map_err(|error| error.to_string())
    }
}

/// What was chosen but for threads and time, which the text names itself.
fn filters(document: &Document, selection: &Selection) -> Vec<String> {
    let search = selection.search.trim();
    let searched = (!search.is_empty()).then(|| format!("only stacks with `{search}`"));
    let changes = selection.transforms.iter().map(|transform| {
        let (what, name) = transform.title(&document.profile);
        format!("stacks changed: {what} {name}").trim_end().to_owned()
    });
    searched.into_iter().chain(changes).collect()
}
