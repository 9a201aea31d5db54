// Invitations as they should not be.

const PREFIX = "fedirt-invitation:";

/** The same invitation, good until 1970. Its fields: address, study, site, two hashes of 32 bytes, when it ends, the authority. */
export function expired(line) {
  const bytes = Buffer.from(line.slice(PREFIX.length), "base64url");
  let at = "FIRT".length + 1;
  for (let field = 0; field < 3; field += 1) at += 1 + bytes[at];
  at += 2 * 32;
  let end = at;
  while (bytes[end] & 0x80) end += 1;
  return PREFIX + Buffer.concat([bytes.subarray(0, at), Buffer.from([1]), bytes.subarray(end + 1)]).toString("base64url");
}
