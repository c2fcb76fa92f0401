// The private stdout: what the protocol writes arrives, what anybody else writes lands on stderr.
import { describe, expect, test } from "bun:test";

const stdoutModule = JSON.stringify(new URL("../../../src/cli/stdout.ts", import.meta.url).pathname);

async function run(program: string, environment: Record<string, string> = {}): Promise<{ stdout: string; stderr: string; exitCode: number }> {
  const child = Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "pipe", stdin: "ignore", env: { ...process.env, ...environment } });
  const [stdout, stderr, exitCode] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text(), child.exited]);
  return { stdout, stderr, exitCode };
}

describe("takeStdout", () => {
  test("console, process.stdout, native code and children write to stderr; the descriptor is the real stdout", async () => {
    const { stdout, stderr, exitCode } = await run(`
      import { writeSync } from "node:fs";
      import { dlopen } from "bun:ffi";
      import { takeStdout } from ${stdoutModule};
      const { fd } = await takeStdout();
      console.log("noise-console");
      process.stdout.write("noise-stream\\n");
      Bun.spawnSync(["sh", "-c", "echo noise-child"], { stdio: ["ignore", "inherit", "inherit"] });
      const library = process.platform === "darwin" ? "libSystem.B.dylib" : "libc.so.6";
      const { symbols } = dlopen(library, { write: { args: ["i32", "ptr", "usize"], returns: "isize" } });
      symbols.write(1, Buffer.from("noise-native\\n"), 13);
      writeSync(fd, "frame\\n");
      process.on("exit", () => console.log("noise-exit"));`);
    expect([stdout, exitCode]).toEqual(["frame\n", 0]);
    const heard = ["noise-console", "noise-stream", "noise-child", "noise-native", "noise-exit"].filter((noise) => stderr.includes(noise));
    expect(heard).toEqual(["noise-console", "noise-stream", "noise-child", "noise-native", "noise-exit"]);
  });

  test("a child that outlives the process doesn't hold the private descriptor open", async () => {
    const started = performance.now();
    const { stdout } = await run(`
      import { writeSync } from "node:fs";
      import { takeStdout } from ${stdoutModule};
      const { fd } = await takeStdout();
      writeSync(fd, "frame\\n");
      Bun.spawn(["sleep", "20"], { stdio: ["ignore", "ignore", "ignore"], detached: true }).unref();`);
    expect(stdout).toBe("frame\n");
    expect(performance.now() - started).toBeLessThan(10_000);
  });

  test("without the system's library descriptor 1 is used as it is", async () => {
    const { stdout, exitCode } = await run(`
      import { writeSync } from "node:fs";
      Object.defineProperty(process, "platform", { value: "darwin" });
      const { takeStdout } = await import(${stdoutModule});
      const { fd } = await takeStdout();
      writeSync(fd, fd + "\\n");`);
    expect([stdout, exitCode]).toEqual([process.platform === "linux" ? "1\n" : expect.stringMatching(/^\d+\n$/), 0]);
  });
});
