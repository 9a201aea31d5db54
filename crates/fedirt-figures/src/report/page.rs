//! What every page has: a head that forbids requests, the style, sections, and the script.

use crate::text::escape;

const STYLE: &str = include_str!("../../assets/report.css");

/// Pictures that can be read and saved, tables that sort. The parts build on each other in this order.
pub(super) const READING: [&str; 3] = [
    include_str!("../../assets/readout.js"),
    include_str!("../../assets/tables.js"),
    include_str!("../../assets/save.js"),
];

pub(super) fn head(out: &mut String, title: &str) {
    // The policy forbids every request, so that even a mistake in this file could not make one.
    out.push_str(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; \
         script-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n",
    );
    out.push_str(&format!("<title>{}</title>\n<style>\n{STYLE}</style>\n", escape(title)));
    out.push_str("<script>document.documentElement.classList.add(\"scripted\");</script>\n</head>\n");
}

pub(super) fn section(out: &mut String, id: &str, title: &str, fill: impl FnOnce(&mut String)) {
    out.push_str(&format!("<section id=\"{id}\" aria-labelledby=\"{id}-title\">\n"));
    out.push_str(&format!("<h2 id=\"{id}-title\">{}</h2>\n", escape(title)));
    fill(out);
    out.push_str("</section>\n");
}

/// Links to sections.
pub(super) fn contents<'a>(out: &mut String, sections: impl IntoIterator<Item = (&'a str, &'a str)>) {
    out.push_str("<nav aria-label=\"Contents\"><ul>");
    for (id, name) in sections {
        out.push_str(&format!("<li><a href=\"#{id}\">{}</a></li>", escape(name)));
    }
    out.push_str("</ul></nav>\n");
}

/// The script and the end of the page.
pub(super) fn close(out: &mut String, script: impl IntoIterator<Item = &'static str>) {
    out.push_str("<script>\n(() => {\n\"use strict\";\n");
    out.extend(script);
    out.push_str("})();\n</script>\n</body>\n</html>\n");
}
