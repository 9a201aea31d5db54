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
