// A pipe whose reader leaves is noticed without a byte being written; one that is read, or a file, is left alone.
import { expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { watchReader } from "../../../../src/modes/sidecar/reader-watch.ts";
import { makeWorkspace } from "../../../support/workspace.ts";

test.skipIf(process.platform === "win32")("a reader that leaves is told once, and a file never", async () => {
  using folder = makeWorkspace({ file: "" });
  execFileSync("mkfifo", [folder.at("pipe")]);
  const reader = openSync(folder.at("pipe"), constants.O_RDONLY | constants.O_NONBLOCK);
  const [writer, file] = [openSync(folder.at("pipe"), "w"), openSync(folder.at("file"), "w")];
  const told: string[] = [];
  const gone = Promise.withResolvers<void>();
  const stops = [await watchReader(file, () => told.push("file")), await watchReader(writer, () => (told.push("pipe"), gone.resolve()))];
  await Bun.sleep(600);
  expect(told).toEqual([]);
  closeSync(reader);
  await gone.promise;
  expect(told).toEqual(["pipe"]);
  for (const stop of stops) stop();
  closeSync(writer);
  closeSync(file);
});
