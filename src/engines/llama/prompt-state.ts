// Keeps the computed state of a prompt's head on disk, so that a later process need not read it again. A file is named
// by all that its content depends on, and by the hash of its content: native code is never given anything else.
// Must not fail: without a state the head is read as usual.
import { mkdir, open, readdir, rename, rm, stat, utimes } from "node:fs/promises";
import { join } from "node:path";
import type { LlamaContextSequence, Token } from "node-llama-cpp";
import { messageOf } from "../../core/error.ts";
import type { Log } from "../../core/runtime.ts";

export interface PromptStateOptions {
  directory: string;
  /** Bytes of all files; the oldest go first. */
  bytesMax: number;
  /** What the state depends on beside the tokens: weights, engine build, parameters of the context. */
  identity: string;
  log: Log;
}

export interface PromptStates {
  /** True when the sequence now holds exactly these tokens. On false it may be empty. */
  load(sequence: LlamaContextSequence, tokens: readonly Token[]): Promise<boolean>;
  /** Keeps the state of a sequence that holds exactly these tokens. */
  save(sequence: LlamaContextSequence, tokens: readonly Token[]): Promise<void>;
}

const suffix = ".state";
/** Written files that were left behind are removed after this long. */
const staleMs = 3_600_000;

export function promptStates(options: PromptStateOptions): PromptStates {
  const { directory, log } = options;
  const tried = new Set<string>();
  const guarded = async <T>(what: string, otherwise: T, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "ENOENT") log("warn", `The prompt state could not be ${what}: ${messageOf(error)}. The prompt is read as usual.`, { directory });
      return otherwise;
    }
  };
  return {
    load: (sequence, tokens) =>
      guarded("loaded", false, async () => {
        const key = keyOf(options.identity, tokens);
        const name = (await readdir(directory)).find((file) => file.startsWith(`${key}-`) && file.endsWith(suffix));
        if (name === undefined) return false;
        const path = join(directory, name);
        if ((await contentHash(path)) !== name.slice(key.length + 1, -suffix.length)) {
          await rm(path, { force: true });
          throw new Error(`${path} was damaged and is removed`);
        }
        // Checkpoints of what the sequence held before must go with it.
        if (sequence.nextTokenIndex > 0) await sequence.clearHistory();
        await sequence.loadStateFromFile(path, { acceptRisk: true });
        const now = new Date();
        await utimes(path, now, now);
        if (sameTokens(sequence.contextTokens, tokens)) return true;
        await sequence.clearHistory();
        return false;
      }),
    save: (sequence, tokens) =>
      guarded("saved", undefined, async () => {
        const key = keyOf(options.identity, tokens);
        if (tried.has(key) || !sameTokens(sequence.contextTokens, tokens)) return;
        tried.add(key);
        await mkdir(directory, { recursive: true, mode: 0o700 });
        const files = await readdir(directory);
        if (files.some((file) => file.startsWith(`${key}-`))) return;
        const temporary = join(directory, `${key}.${process.pid}.part`);
        try {
          await (await open(temporary, "wx", 0o600)).close();
          const { fileSize } = await sequence.saveStateToFile(temporary);
          if (fileSize <= options.bytesMax) {
            await removeOldest(directory, options.bytesMax - fileSize);
            await rename(temporary, join(directory, `${key}-${await contentHash(temporary)}${suffix}`));
          }
        } finally {
          await rm(temporary, { force: true });
        }
      }),
  };
}

function keyOf(identity: string, tokens: readonly Token[]): string {
  return new Bun.CryptoHasher("sha256").update(identity).update(Uint32Array.from(tokens)).digest("hex").slice(0, 32);
}

async function contentHash(path: string): Promise<string> {
  const hasher = new Bun.CryptoHasher("sha256");
  for await (const chunk of Bun.file(path).stream()) hasher.update(chunk);
  return hasher.digest("hex").slice(0, 32);
}

function sameTokens(a: readonly Token[], b: readonly Token[]): boolean {
  return a.length === b.length && a.every((token, index) => token === b[index]);
}

async function removeOldest(directory: string, bytesMax: number): Promise<void> {
  const files = await Promise.all(
    (await readdir(directory)).map(async (name) => {
      const path = join(directory, name);
      const found = await stat(path).catch(() => undefined);
      return found && { path, bytes: found.size, usedMs: found.mtimeMs, part: name.endsWith(".part") };
    }),
  );
  let total = 0;
  for (const file of files.filter((entry) => entry !== undefined).toSorted((a, b) => b.usedMs - a.usedMs)) {
    if (file.part ? Date.now() - file.usedMs < staleMs : (total += file.bytes) <= bytesMax) continue;
    await rm(file.path, { force: true });
  }
}
