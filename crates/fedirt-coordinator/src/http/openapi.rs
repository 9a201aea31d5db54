//! The description of the routes, kept by hand and checked by a test.

/// The OpenAPI document.
pub fn document() -> &'static str {
    include_str!("openapi.json")
}

#[cfg(test)]
mod tests {
    use super::document;
    use crate::http::ROUTES;
    use serde_json::Value;

    #[test]
    fn every_route_is_described_and_nothing_else() {
        let document: Value = serde_json::from_str(document()).unwrap();
        let mut described: Vec<(String, String)> = Vec::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                assert!(operation["summary"].is_string(), "{method} {path} has no summary");
                assert!(!operation["responses"].as_object().unwrap().is_empty());
                described.push((method.clone(), path.clone()));
            }
        }
        let mut served: Vec<(String, String)> =
            ROUTES.iter().map(|(method, path, _)| ((*method).to_owned(), (*path).to_owned())).collect();
        described.sort();
        served.sort();
        assert_eq!(described, served);
        assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    }
}
