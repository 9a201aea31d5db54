//! What is wrong with the fields of a form. The page is shown again with what was entered, and each complaint beside its field.

use crate::Html;
use std::borrow::Cow;

/// What is wrong with a field, or with the form as a whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// The field; empty if the problem concerns several.
    pub(crate) field: Cow<'static, str>,
    /// What is wrong, and what would help.
    pub(crate) text: String,
}

impl Complaint {
    pub(crate) fn new(field: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        Self { field: field.into(), text: text.into() }
    }
}

/// All complaints about a form.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Complaints(Vec<Complaint>);

impl Complaints {
    /// One complaint.
    pub(crate) fn one(field: impl Into<Cow<'static, str>>, text: impl Into<String>) -> Self {
        Self(vec![Complaint::new(field, text)])
    }

    pub(crate) fn add(&mut self, field: impl Into<Cow<'static, str>>, text: impl Into<String>) {
        self.0.push(Complaint::new(field, text));
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, in order.
    pub(crate) fn all(&self) -> &[Complaint] {
        &self.0
    }

    /// The complaint about a field.
    pub(crate) fn about(&self, field: &str) -> Option<&str> {
        self.0.iter().find(|c| c.field == field).map(|c| c.text.as_str())
    }

    /// Whether there is a complaint about one of these fields, so that the details element around them must be open.
    pub(crate) fn unfold(&self, fields: &[&str]) -> bool {
        fields.iter().any(|field| self.about(field).is_some())
    }

    /// The complaint about a field as HTML.
    pub(crate) fn told(&self, field: &str) -> Html {
        let text = self.about(field).map(fedirt_figures::escape);
        Html(text.map_or_else(String::new, |text| {
            format!("<p class=\"problem\" id=\"{field}-problem\">{text}</p>")
        }))
    }

    /// The ARIA attributes that connect a field with its hint and its complaint.
    pub(crate) fn marks(&self, field: &str) -> Html {
        Html(match self.about(field) {
            Some(_) => format!(" aria-invalid=\"true\" aria-describedby=\"{field}-hint {field}-problem\""),
            None => format!(" aria-describedby=\"{field}-hint\""),
        })
    }

    /// All complaints at the top of the page, each with a link to its field.
    pub(crate) fn summary(&self) -> Html {
        if self.0.is_empty() {
            return Html::default();
        }
        let line = |complaint: &Complaint| {
            let text = fedirt_figures::escape(&complaint.text);
            match complaint.field.as_ref() {
                "" => format!("<li>{text}</li>"),
                field => format!("<li><a href=\"#{field}\">{text}</a></li>"),
            }
        };
        let lines: String = self.0.iter().map(line).collect();
        Html(format!(
            "<div class=\"warn\" role=\"alert\" id=\"wrong\"><p><strong>This cannot be done as it stands.</strong> What you entered is still here.</p><ul>{lines}</ul></div>"
        ))
    }
}

impl From<Vec<Complaint>> for Complaints {
    fn from(complaints: Vec<Complaint>) -> Self {
        Self(complaints)
    }
}
