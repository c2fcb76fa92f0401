// What can be built: for each target, Bun's name of it, the package with its llama library, and what npm calls its machine.

export interface Target {
  name: string;
  compileTarget: Bun.Build.CompileTarget;
  /** npm package that holds Bun for the target. */
  bunPackage: string;
  /** npm package that holds the llama library. */
  libraryPackage: string;
  /** Folder inside the package's bins/. */
  libraryFolder: string;
  gpu: "metal" | false;
  os: "linux" | "darwin" | "win32";
  cpu: "x64" | "arm64";
  /** The executable may not be larger. */
  bytesMax: number;
}

export const targets: readonly Target[] = [
  {
    name: "linux-x64",
    compileTarget: "bun-linux-x64",
    bunPackage: "@oven/bun-linux-x64",
    libraryPackage: "@node-llama-cpp/linux-x64",
    libraryFolder: "linux-x64",
    gpu: false,
    os: "linux",
    cpu: "x64",
    bytesMax: 160_000_000,
  },
  {
    name: "linux-arm64",
    compileTarget: "bun-linux-arm64",
    bunPackage: "@oven/bun-linux-aarch64",
    libraryPackage: "@node-llama-cpp/linux-arm64",
    libraryFolder: "linux-arm64",
    gpu: false,
    os: "linux",
    cpu: "arm64",
    bytesMax: 160_000_000,
  },
  {
    name: "darwin-arm64",
    compileTarget: "bun-darwin-arm64",
    bunPackage: "@oven/bun-darwin-aarch64",
    libraryPackage: "@node-llama-cpp/mac-arm64-metal",
    libraryFolder: "mac-arm64-metal",
    gpu: "metal",
    os: "darwin",
    cpu: "arm64",
    bytesMax: 160_000_000,
  },
  {
    name: "darwin-x64",
    compileTarget: "bun-darwin-x64",
    bunPackage: "@oven/bun-darwin-x64",
    libraryPackage: "@node-llama-cpp/mac-x64",
    libraryFolder: "mac-x64",
    gpu: false,
    os: "darwin",
    cpu: "x64",
    bytesMax: 160_000_000,
  },
  {
    name: "windows-x64",
    compileTarget: "bun-windows-x64",
    bunPackage: "@oven/bun-windows-x64",
    libraryPackage: "@node-llama-cpp/win-x64",
    libraryFolder: "win-x64",
    gpu: false,
    os: "win32",
    cpu: "x64",
    bytesMax: 180_000_000,
  },
];

/** The target named, or that of this machine. @throws Error that lists the names. */
export function targetOf(name: string | undefined, os: string = process.platform, cpu: string = process.arch): Target {
  const found = name === undefined ? targets.find((target) => target.os === os && target.cpu === cpu) : targets.find((target) => target.name === name);
  if (found) return found;
  throw new Error(`no build target ${name ?? `for ${os}-${cpu}`}; known: ${targets.map((target) => target.name).join(", ")}`);
}

/** Name of the executable in dist/: `atomic` for this machine, `atomic-<target>` for another, `.exe` on Windows. */
export function executableName(target: Target, os: string = process.platform, cpu: string = process.arch): string {
  const own = target.os === os && target.cpu === cpu;
  return `atomic${own ? "" : `-${target.name}`}${target.os === "win32" ? ".exe" : ""}`;
}
