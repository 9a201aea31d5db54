// Everything that can be taken away, and that it holds what it says.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { copyFile, readFile } from "node:fs/promises";
import { delimiter, dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { findings } from "../../helpers/axe.js";
import { binary } from "../../helpers/program.js";
import { parts } from "../../helpers/workbook.js";
import { downloads } from "../../pages/study.js";

export async function takesEverythingAway(ada, study, data) {
  const get = async (file) => {
    const got = await downloads(ada, study, file);
    assert.equal(got.name, `${study}-${file}`);
    return got;
  };
  const fit = JSON.parse((await get("fit.json")).bytes);
  assert.deepEqual([fit.items.length, fit.n, fit.converged], [data.items, data.students, true]);

  const items = (await get("items.csv")).bytes.toString().trim().split(/\r?\n/);
  assert.equal(items.length, data.items + 1);
  assert.match(items[1], /^i01,/);
  const covariance = (await get("covariance.csv")).bytes.toString().trim().split(/\r?\n/);
  assert.equal(covariance.length, 2 * data.items + 1, "two parameters of each item, and a header");
  assert.match((await get("sites.csv")).bytes.toString(), /site03/);
  assert.match((await get("plan.toml")).bytes.toString(), /^# Study plan/);
  assert.match((await get("history.csv")).bytes.toString(), /^event,time/);
  assert.ok((await get("audit.tar")).bytes.includes(`${study}/plan.toml`));

  const book = parts((await get("fit.xlsx")).bytes);
  assert.match(book.get("xl/workbook.xml"), /name="Items"/i);
  for (const name of fit.items.map((item) => item.name)) assert.ok(book.get("xl/sharedStrings.xml").includes(`>${name}<`), name);

  await opensReport(ada, (await get("report.html")).path);
  await repeats(fit, data, await get("codebook.csv"), await get("repeat.sh"));
  return fit;
}

/** The report opens anywhere: from a file, without asking anybody for anything. */
async function opensReport(ada, path) {
  const page = await ada.context.browser().newPage();
  const asked = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(pathToFileURL(path).href);
  assert.deepEqual(asked.filter((url) => !/^(data|blob):/.test(url)), [pathToFileURL(path).href]);
  assert.deepEqual((await findings(page)).grave, [], "the report: accessibility");
  await page.close();
}

/** The script, where all files are in one place, gives the same estimates. */
async function repeats(fit, data, codebook, script) {
  await copyFile(codebook.path, join(data.folder, "codebook.csv"));
  const env = { ...process.env, PATH: dirname(binary) + delimiter + process.env.PATH };
  await promisify(execFile)("sh", [script.path], { cwd: data.folder, env });
  const again = JSON.parse(await readFile(join(data.folder, "repeated", "fit.json")));
  for (const [n, item] of fit.items.entries()) {
    assert.equal(again.items[n].name, item.name);
    assert.ok(Math.abs(again.items[n].a - item.a) < 1e-4, `${item.name}: ${again.items[n].a} and ${item.a}`);
  }
}
