// The reference of the wire's speed: says one line when it has started, then sends back whatever it is sent.
// Compiled with the same Bun into one file (wire.ts): what is compared is a program that does nothing in between.
import { writeSync } from "node:fs";

writeSync(1, "{}\n");
for await (const chunk of Bun.stdin.stream()) writeSync(1, chunk);
