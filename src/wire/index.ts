// The wires as a package of schemas, for hosts that speak them on their own (`atomic/protocol`): the sidecar's at the top,
// JSON mode's under `json`, and the reader of lines that both share.
export * from "./sidecar/schema.ts";
export * as json from "./json/schema.ts";
export { LineReader, type InputLine, type LineBounds } from "./lines.ts";
