// Threads and windows for machines of many sizes, and what a machine's files say about it.
import { describe, expect, test } from "bun:test";
import { AgentError } from "../../../src/core/error.ts";
import { cacheTypesFor, fitBatch, fitContext, fitThreads, windowBytesPerToken } from "../../../src/models/fit.ts";
import type { GgufInfo } from "../../../src/models/gguf.ts";
import { readMachine } from "../../../src/models/machine.ts";

const mebibyte = 1024 * 1024;

const model: GgufInfo = {
  architecture: "qwen2",
  name: "a model",
  blockCount: 28,
  contextLength: 32_768,
  embeddingLength: 1536,
  headCountsKv: Array.from({ length: 28 }, () => 2),
  keyLength: 128,
  valueLength: 128,
  vocabularySize: 150_000,
  tokenizer: "gpt2",
  fileType: 15,
  chatTemplate: undefined,
  bosToken: undefined,
  eosToken: undefined,
  eotToken: undefined,
  tensorBytes: 1000 * mebibyte,
  parameterCount: 1.5e9,
  sizeBytes: 1001 * mebibyte,
};

function refused(run: () => unknown): AgentError {
  try {
    run();
  } catch (error) {
    if (error instanceof AgentError) return error;
  }
  throw new Error("it was not refused");
}

describe("threads", () => {
  test("are the usable cores; a setting lowers them and never raises them", () => {
    expect(fitThreads(0, { cores: 6 })).toBe(6);
    expect(fitThreads(4, { cores: 6 })).toBe(4);
    expect(fitThreads(64, { cores: 6 })).toBe(6);
    expect(fitThreads(0, { cores: 0 })).toBe(1);
  });

  test("and size decide how much is read between two looks at the signal", () => {
    expect(fitBatch({ parameterCount: 1.5e9 }, 2)).toBe(32);
    expect(fitBatch({ parameterCount: 1.35e8 }, 2)).toBe(256);
    expect(fitBatch({ parameterCount: 7e9 }, 1)).toBe(16);
    expect(fitBatch({ parameterCount: 1 }, 64)).toBe(256);
  });
});

describe("the window", () => {
  const fit = (setting: number, memoryMib: number): number => fitContext("a.gguf", model, setting, 16, { memoryBytes: memoryMib * mebibyte }).contextSize;

  test("takes 28 KiB a token", () => expect(windowBytesPerToken(model)).toBe(28 * 1024));

  test("takes little more than half of that with 8 bits a number, and little more than a quarter with 4", () => {
    expect(windowBytesPerToken(model, "q8_0")).toBe((28 * 1024 * 34) / 64);
    expect(windowBytesPerToken(model, "q4_0")).toBe((28 * 1024 * 18) / 64);
    const room = { memoryBytes: 1500 * mebibyte };
    expect(fitContext("a.gguf", model, 0, 16, room, "q8_0").contextSize).toBeGreaterThan(1.7 * fitContext("a.gguf", model, 0, 16, room, "f16").contextSize);
  });

  test("is kept as the setting says where flash attention and the heads allow it; auto packs only at need", () => {
    const odd = { keyLength: 80, valueLength: 128 };
    expect(cacheTypesFor("auto", "auto", model)).toEqual(["f16", "q8_0"]);
    expect(cacheTypesFor("auto", "off", model)).toEqual(["f16"]);
    expect(cacheTypesFor("q4_0", "on", model)).toEqual(["q4_0"]);
    expect(cacheTypesFor("f16", "auto", model)).toEqual(["f16"]);
    expect(cacheTypesFor("q8_0", "off", model)).toEqual(["f16"]);
    expect(cacheTypesFor("q8_0", "auto", odd)).toEqual(["f16"]);
  });

  test("is as large as the memory allows, up to 32768", () => {
    expect(fit(0, 16_000)).toBe(32_768);
    const some = fit(0, 1500);
    expect(some).toBeWithin(12_000, 16_000);
    expect(some % 256).toBe(0);
    expect(fitContext("a.gguf", model, 0, 16, { memoryBytes: 1500 * mebibyte }).needBytes).toBeLessThanOrEqual(1500 * mebibyte);
  });

  test("is never longer than what the model was trained for", () => {
    const short = { ...model, contextLength: 512 };
    expect(fitContext("a.gguf", short, 0, 16, { memoryBytes: 16e9 }).contextSize).toBe(512);
    expect(fitContext("a.gguf", short, 4096, 16, { memoryBytes: 16e9 }).contextSize).toBe(512);
  });

  test("is what the setting says where it fits", () => {
    expect(fit(4096, 16_000)).toBe(4096);
    expect(fit(512, 16_000)).toBe(512);
    expect(fit(1, 16_000)).toBe(256);
  });

  test("is refused with need, have and the setting before memory is taken", () => {
    const { code, message } = refused(() => fit(0, 500));
    expect(code).toBe("out_of_memory");
    expect(message).toMatch(/^a\.gguf: .* needs 11\d\d MiB of memory, 500 MiB are available\. Name a smaller model in localModels\.managed\.modelId/);
    expect(refused(() => fit(32_768, 1500)).message).toMatch(/needs \d+ MiB of memory, 1500 MiB are available\. Set localModels\.managed\.contextSize to a smaller number, or name a smaller model/);
  });
});

describe("a Linux machine", () => {
  const files = (found: Record<string, string>) => (path: string) => found[path];
  const base = { "/proc/self/status": "Name:\tx\nCpus_allowed:\tff\n", "/proc/meminfo": "MemTotal: 16000000 kB\nMemAvailable:    8000000 kB\n" };

  test("without groups gives its cores and its free memory", () => {
    expect(readMachine(files(base), "linux")).toEqual({ cores: 8, memoryBytes: 8_000_000 * 1024 });
    expect(readMachine(files({ ...base, "/proc/self/status": "Cpus_allowed:\tffffffff,0000000f\n" }), "linux").cores).toBe(36);
  });

  test("with groups of version 2 gives the least of all above the process", () => {
    const group = {
      ...base,
      "/proc/self/cgroup": "0::/a/b\n",
      "/sys/fs/cgroup/a/b/cpu.max": "max 100000\n",
      "/sys/fs/cgroup/a/cpu.max": "250000 100000\n",
      "/sys/fs/cgroup/a/b/memory.max": "max\n",
      "/sys/fs/cgroup/a/memory.max": "2147483648\n",
      "/sys/fs/cgroup/a/memory.current": "1073741824\n",
      "/sys/fs/cgroup/a/memory.stat": "anon 5\ninactive_file 73741824\n",
    };
    expect(readMachine(files(group), "linux")).toEqual({ cores: 2, memoryBytes: 2_147_483_648 - 1_000_000_000 });
  });

  test("with groups of version 1, and in a container that sees only the root", () => {
    const group = {
      ...base,
      "/proc/self/cgroup": "5:memory:/docker/x\n4:cpu,cpuacct:/docker/x\n",
      "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "50000\n",
      "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
      "/sys/fs/cgroup/memory/memory.limit_in_bytes": "1073741824\n",
      "/sys/fs/cgroup/memory/memory.usage_in_bytes": "73741824\n",
    };
    expect(readMachine(files(group), "linux")).toEqual({ cores: 1, memoryBytes: 1_000_000_000 });
  });

  test("with no quota and no limit is not limited", () => {
    const group = { ...base, "/proc/self/cgroup": "4:cpu:/\n3:memory:/\n", "/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1\n", "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000\n", "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n" };
    expect(readMachine(files(group), "linux")).toEqual({ cores: 8, memoryBytes: 8_000_000 * 1024 });
  });

  test("this one has a core and memory", () => {
    const machine = readMachine();
    expect(machine.cores).toBeGreaterThanOrEqual(1);
    expect(machine.memoryBytes).toBeGreaterThan(64 * mebibyte);
  });
});
