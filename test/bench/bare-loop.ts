// The reference of the stream's speed: the same lines, made from ready objects and written by a loop with nothing around it.
// `bun test/bench/bare-loop.ts FILE`; writes on stdout the bytes that the file holds.
import { readFileSync, writeSync } from "node:fs";

const events = readFileSync(process.argv[2] ?? "", "utf8").split("\n").slice(0, -1).map((line): unknown => JSON.parse(line));
for (const event of events) writeSync(1, `${JSON.stringify(event)}\n`);
