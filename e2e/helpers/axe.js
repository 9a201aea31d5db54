// The accessibility check.

import axe from "axe-core";

const GRAVE = new Set(["serious", "critical"]);

/** What axe finds on a page, in lines, and which of them are grave. */
export async function findings(page) {
  if (!(await page.evaluate("typeof axe === 'object'"))) await page.evaluate(axe.source);
  const { violations } = await page.evaluate("axe.run(document, { resultTypes: ['violations'] })");
  const line = ({ id, impact, help, nodes }) => `${impact} ${id}: ${help}\n${nodes.slice(0, 3).map((node) => `    ${node.target.join(" ")}  ${node.any[0]?.message ?? ""}`).join("\n")}`;
  return {
    all: violations.map(line),
    grave: violations.filter(({ impact }) => GRAVE.has(impact)).map(line),
  };
}
