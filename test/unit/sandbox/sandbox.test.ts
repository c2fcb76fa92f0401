// The sandbox with real commands: what is refused, what still works, and that nothing of the parent leaks in.
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { around } from "../../../src/sandbox/reach.ts";
import { confine, sandboxKind, sandboxWarning } from "../../../src/sandbox/sandbox.ts";
import { seatbeltProfile } from "../../../src/sandbox/seatbelt.ts";
import { socketFilter } from "../../../src/sandbox/seccomp.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "atomic-sandbox-")));
const workspace = join(root, "home/work");
const state = join(root, "home/work/.state");
const outside = join(root, "outside");
const self = [process.execPath, join(import.meta.dir, "confine-entry.ts")];

beforeAll(() => {
  for (const folder of [workspace, state, join(state, "skills/one"), outside, join(workspace, "sub")]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(state, ".env"), "KEY=secret");
  writeFileSync(join(state, "skills/one/SKILL.md"), "skill text");
  writeFileSync(join(outside, "secret.txt"), "secret");
  writeFileSync(join(workspace, "sub/f"), "inside");
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Runs in `sub`, which like everything of the workspace but the state folder may be changed. */
function run(command: string, changes: { network?: boolean; readScope?: "working-dir" | "unrestricted" } = {}) {
  const { network = false, readScope = "working-dir" } = changes;
  const reach = { write: [workspace], read: [join(state, "skills")], readScope, stateFolder: state, home: join(root, "home"), searchPath: process.env["PATH"] ?? "" };
  const child = Bun.spawnSync(confine(command, "landlock", { folder: join(workspace, "sub"), reach, network }, self), { cwd: "/", stdin: "ignore" });
  return { code: child.exitCode, out: child.stdout.toString(), error: child.stderr.toString() };
}

test("off is off, and what is found stays found", () => {
  expect(sandboxKind("off")).toBe("off");
  expect(sandboxKind("auto")).toBe(sandboxKind("required"));
});

describe.if(process.platform === "linux")("a confined command", () => {
  test("the machine that tests run on has Landlock", () => expect(sandboxKind("auto")).toBe("landlock"));

  test("may change the workspace", () => {
    expect(run("pwd; echo x > new && mkdir d && mv new d/ && ln d/new e && chmod +x e && cat e && rm -r d e; ls")).toEqual({ code: 0, out: `${workspace}/sub\nx\nf\n`, error: "" });
  });

  const refused: [what: string, command: string][] = [
    ["writing outside", `echo x > ${outside}/x`],
    ["writing to the temporary folder of all", `touch ${tmpdir()}/atomic-sandbox-probe`],
    ["changing a file outside", `echo x >> ${outside}/secret.txt`],
    ["cutting a file outside", `truncate -s 0 ${outside}/secret.txt`],
    ["removing outside", `rm ${outside}/secret.txt`],
    ["moving out", `mv f ${outside}/f`],
    ["linking in from outside", `ln ${outside}/secret.txt g`],
    ["reading outside", `cat ${outside}/secret.txt`],
    ["reading the state folder, though it lies in the workspace", `cat ${state}/.env`],
    ["listing the state folder", `ls ${state}`],
    ["making a file in the state folder", `touch ${state}/new`],
    ["making a device", "mknod n b 8 0"],
    ["the terminal", ": < /dev/tty"],
    ["ending other processes", `kill -9 ${process.pid}`],
    ["reading other processes", `cat /proc/${process.pid}/environ`],
  ];
  test.each(refused)("is refused %s", (_what, command) => {
    const { code, error } = run(command);
    expect(code).not.toBe(0);
    expect(error).toMatch(/[Pp]ermission denied|not permitted|PermissionError|cross-device/);
    expect(readFileSync(join(outside, "secret.txt"), "utf8")).toBe("secret");
    expect(existsSync(join(state, "new"))).toBe(false);
  });

  test("may read system folders and skills, and write to null devices", () => {
    expect(run(`cat ${state}/skills/one/SKILL.md; head -c 1 /etc/passwd > /dev/null && head -c 3 /dev/urandom | wc -c`)).toEqual({ code: 0, out: "skill text3\n", error: "" });
  });

  test("reads everything but the state folder and devices where the scope is unrestricted", () => {
    const read = run(`cat ${outside}/secret.txt; cat ${state}/.env`, { readScope: "unrestricted" });
    expect(read.out).toBe("secret");
    expect(read.error).toContain("Permission denied");
  });

  test("keeps its status, its signals and a clean set of descriptors", () => {
    expect(run("exit 7").code).toBe(7);
    expect(run("yes | head -1")).toEqual({ code: 0, out: "y\n", error: "" });
    const status = run("grep -E '^Sig(Blk|Ign)|^NoNewPrivs' /proc/self/status; ls /proc/self/fd").out;
    expect(status).toBe("SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\nNoNewPrivs:\t1\n0\n1\n2\n3\n");
  });

  test("gives no network of any kind, unless it is on", async () => {
    using server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data() {} } });
    const script = join(workspace, "sub/net.py");
    writeFileSync(script, networkScript);
    expect(run(`python3 net.py ${server.port}`).out).toBe("TCP: no\nUDP: no\nIPv6: no\nlocal: no\nnetlink: no\npair: yes\n");
    expect(run(`python3 net.py ${server.port}`, { network: true }).out).toStartWith("TCP: yes\nUDP: yes\n");
    rmSync(script);
  });

  test("does not start when it cannot be confined", () => {
    const child = Bun.spawnSync([...self, "__confine", JSON.stringify({ folder: join(root, "missing") }), "echo ran"], { cwd: "/", stdin: "ignore" });
    expect(child.exitCode).toBe(126);
    expect(child.stdout.toString()).toBe("");
    expect(child.stderr.toString()).toStartWith("sandbox: ");
  });
});

test("a hidden folder is left out by allowing its neighbours", () => {
  expect(around(workspace, [outside])).toEqual([workspace]);
  expect(around(workspace, [workspace])).toEqual([]);
  expect(around(root, [state]).toSorted()).toEqual([join(workspace, "sub"), outside].toSorted());
  expect(around(join(state, "skills"), [state])).toEqual([join(state, "skills")]);
});

test("the filter refuses other instruction sets, and jumps where it should", () => {
  const off = socketFilter("x64", { network: false, truncate: true });
  expect(evaluate(off, 0xc000003e, 41)).toBe(0x5000d);
  expect(evaluate(off, 0xc000003e, 425)).toBe(0x50026);
  expect(evaluate(off, 0xc000003e, 53)).toBe(0x7fff0000);
  expect(evaluate(off, 0x40000003, 102)).toBe(0x50001);
  expect(evaluate(off, 0xc000003e, 0x40000000 + 41)).toBe(0x50026);
  expect(evaluate(off, 0xc000003e, 76)).toBe(0x7fff0000);
  const on = socketFilter("arm64", { network: true, truncate: false });
  expect(evaluate(on, 0xc00000b7, 198)).toBe(0x7fff0000);
  expect(evaluate(on, 0xc00000b7, 45)).toBe(0x5000d);
});

test("the macOS profile allows writing in the workspace and denies the state folder after that", () => {
  const profile = seatbeltProfile({ reach: { read: ["/s/skills"], write: ['/w "x"'] }, stateFolder: "/s", network: false });
  const lines = profile.split("\n");
  expect(lines.slice(0, 2)).toEqual(["(version 1)", "(deny default)"]);
  expect(profile).toContain('(allow file-write* (literal "/dev/null") (subpath "/w \\"x\\""))');
  expect(lines.indexOf('(deny file-read* file-write* (subpath "/s"))')).toBeLessThan(lines.indexOf('(allow file-read* (subpath "/s/skills"))'));
  expect(profile).not.toContain("network");
});

const networkScript = `
import socket, sys
def attempt(name, make):
    try:
        make()
        print(name + ": yes")
    except PermissionError:
        print(name + ": no")
attempt("TCP", lambda: socket.create_connection(("127.0.0.1", int(sys.argv[1]))))
attempt("UDP", lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
attempt("IPv6", lambda: socket.socket(socket.AF_INET6))
attempt("local", lambda: socket.socket(socket.AF_UNIX))
attempt("netlink", lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW))
attempt("pair", lambda: socket.socketpair())
`;

/** Interprets the five instructions that the filter is made of. */
function evaluate(filter: Uint8Array, machine: number, call: number): number {
  const view = new DataView(filter.buffer);
  let value = 0;
  for (let at = 0; at < filter.length / 8; at++) {
    const [code, jumpTrue, jumpFalse, operand] = [view.getUint16(at * 8, true), view.getUint8(at * 8 + 2), view.getUint8(at * 8 + 3), view.getUint32(at * 8 + 4, true)];
    if (code === 0x06) return operand;
    if (code === 0x20) value = operand === 4 ? machine : call;
    else at += (code === 0x15 ? value === operand : value >= operand) ? jumpTrue : jumpFalse;
  }
  throw new Error("the filter has no end");
}

test("only where a sandbox is wanted and none is there, a person is told what follows", () => {
  expect([sandboxWarning("auto", "landlock"), sandboxWarning("auto", "seatbelt"), sandboxWarning("off", "off")]).toEqual([undefined, undefined, undefined]);
  expect(sandboxWarning("auto", "none")).toContain("below approval level 5");
  expect(sandboxWarning("required", "none")).toContain("no command runs");
});
