// The parts of a workbook (XLSX): a ZIP archive of texts.

import { inflateRawSync } from "node:zlib";

const CENTRAL = 0x02014b50;
const END = 0x06054b50;

/** All parts by name. */
export function parts(bytes) {
  let end = bytes.length - 22;
  while (bytes.readUInt32LE(end) !== END) end -= 1;
  const found = new Map();
  let at = bytes.readUInt32LE(end + 16);
  while (bytes.readUInt32LE(at) === CENTRAL) {
    const [packed, name, extra, comment] = [bytes.readUInt32LE(at + 20), ...[28, 30, 32].map((o) => bytes.readUInt16LE(at + o))];
    const local = bytes.readUInt32LE(at + 42);
    const from = local + 30 + bytes.readUInt16LE(local + 26) + bytes.readUInt16LE(local + 28);
    const content = bytes.subarray(from, from + packed);
    const text = bytes.readUInt16LE(at + 10) === 0 ? content : inflateRawSync(content);
    found.set(bytes.toString("utf8", at + 46, at + 46 + name), text.toString("utf8"));
    at += 46 + name + extra + comment;
  }
  return found;
}

const TYPES = `<?xml version="1.0" encoding="UTF-8"?><Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`;
const RELATIONS = (target, type) => `<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/></Relationships>`;
const BOOK = `<?xml version="1.0" encoding="UTF-8"?><workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"><sheets><sheet name="Answers" sheetId="1" r:id="rId1"/></sheets></workbook>`;

/** A workbook of one sheet; numbers are numbers, everything else is text. */
export function workbook(rows) {
  const cell = (value) => (typeof value === "number" ? `<c><v>${value}</v></c>` : `<c t="inlineStr"><is><t>${value}</t></is></c>`);
  const sheet = rows.map((row) => `<row>${row.map(cell).join("")}</row>`).join("");
  return zip({
    "[Content_Types].xml": TYPES,
    "_rels/.rels": RELATIONS("xl/workbook.xml", "officeDocument"),
    "xl/workbook.xml": BOOK,
    "xl/_rels/workbook.xml.rels": RELATIONS("worksheets/sheet1.xml", "worksheet"),
    "xl/worksheets/sheet1.xml": `<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${sheet}</sheetData></worksheet>`,
  });
}

/** A ZIP archive whose parts are stored as they are. */
function zip(parts) {
  const [files, directory] = [[], []];
  let at = 0;
  for (const [name, text] of Object.entries(parts)) {
    const [title, content] = [Buffer.from(name), Buffer.from(text)];
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0); // the version that is needed; no flags, no compression, no time
    facts.writeUInt32LE(crc32(content), 10);
    facts.writeUInt32LE(content.length, 14);
    facts.writeUInt32LE(content.length, 18);
    facts.writeUInt16LE(title.length, 22);
    const place = Buffer.alloc(14); // after the lengths: comment, disk, attributes, offset
    place.writeUInt32LE(at, 10);
    const file = Buffer.concat([Buffer.from("PK\x03\x04"), facts, title, content]);
    directory.push(Buffer.concat([Buffer.from("PK\x01\x02\x14\x00"), facts, place, title]));
    files.push(file);
    at += file.length;
  }
  const central = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.length, 4);
  end.writeUInt16LE(files.length, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(at, 12);
  return Buffer.concat([...files, central, Buffer.from("PK\x05\x06"), end]);
}

/** CRC-32 as ZIP archives have it (ISO 3309). */
function crc32(bytes) {
  let crc = ~0;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit += 1) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return ~crc >>> 0;
}
