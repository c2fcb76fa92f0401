// Python packages for tests: wheels made on the spot, and a `pip` that takes them from a folder and keeps a log.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { crc32, deflateRawSync } from "node:zlib";

/** A wheel with these files. */
export function makeWheel(files: Readonly<Record<string, Uint8Array>>, options: { stored?: boolean } = {}): Uint8Array {
  const parts: Uint8Array[] = [];
  const directory: Uint8Array[] = [];
  let offset = 0;
  for (const [path, content] of Object.entries(files)) {
    const name = new TextEncoder().encode(path);
    const packed = options.stored ? content : new Uint8Array(deflateRawSync(content, { level: 1 }));
    const common = fields([2, 20], [2, 0], [2, options.stored ? 0 : 8], [4, 0], [4, crc32(content)], [4, packed.length], [4, content.length], [2, name.length], [2, 0]);
    parts.push(fields([4, 0x04034b50]), common, name, packed);
    directory.push(fields([4, 0x02014b50], [2, 20]), common, fields([2, 0], [2, 0], [2, 0], [4, 0], [4, offset]), name);
    offset += 4 + common.length + name.length + packed.length;
  }
  const count = Object.keys(files).length;
  const directoryBytes = directory.reduce((sum, part) => sum + part.length, 0);
  const end = fields([4, 0x06054b50], [2, 0], [2, 0], [2, count], [2, count], [4, directoryBytes], [4, offset], [2, 0]);
  return Uint8Array.from(Buffer.concat([...parts, ...directory, end]));
}

export interface FakePip {
  /** For the environment of the program under test. */
  env: Record<string, string>;
  /** The packages that were asked for, in order. */
  asked(): string[];
  /** What the next calls for a package meet: a wheel, an error, or a call that never ends. */
  offer(name: string, answer: Uint8Array | { error: string } | "hang"): void;
  /** Calls that never end. */
  hanging(): number[];
  /** Ends what such calls started and left behind. */
  end(): void;
}

/** A folder with a `python3` in it whose `-m pip download` serves what was offered. */
export function makeFakePip(folder: string): FakePip {
  const bin = join(folder, "bin");
  const index = join(folder, "index");
  for (const path of [bin, index]) mkdirSync(path, { recursive: true });
  const log = join(folder, "asked");
  const hung = join(folder, "hung");
  const left = join(folder, "left");
  for (const path of [log, hung, left]) writeFileSync(path, "");
  writeFileSync(join(bin, "python3"), script({ index, log, hung, left }));
  chmodSync(join(bin, "python3"), 0o755);
  const lines = (path: string): string[] => readFileSync(path, "utf8").split("\n").filter(Boolean);
  return {
    env: { PATH: `${bin}:/usr/bin:/bin` },
    asked: () => lines(log),
    offer(name, answer) {
      writeFileSync(join(index, `${name}.whl`), answer instanceof Uint8Array ? answer : "");
      writeFileSync(join(index, `${name}.error`), typeof answer === "object" && "error" in answer ? answer.error : "");
      writeFileSync(join(index, `${name}.hang`), answer === "hang" ? "yes" : "");
    },
    hanging: () => lines(hung).map(Number),
    end() {
      for (const id of [...lines(hung), ...lines(left)].map(Number)) {
        if (isAlive(id)) process.kill(id, "SIGKILL");
      }
    },
  };
}

/** False also for a process that ended and was not waited for. */
export function isAlive(id: number): boolean {
  try {
    process.kill(id, 0);
    return !/^State:\s+Z/m.test(existsSync(`/proc/${id}/status`) ? readFileSync(`/proc/${id}/status`, "utf8") : "");
  } catch {
    return false; // ESRCH
  }
}

function script(paths: { index: string; log: string; hung: string; left: string }): string {
  return `#!/bin/sh
[ "$1 $2" = "-m pip" ] || exit 9
shift 2
[ "$1" = "--version" ] && exit 0
[ "$1" = "download" ] || exit 9
deps=; binary=; dir=
while [ $# -gt 0 ]; do
  case "$1" in
    --no-deps) deps=no ;;
    --only-binary) binary=$2; shift ;;
    -d) dir=$2; shift ;;
    *==*) package=$1 ;;
  esac
  shift
done
[ "$deps $binary" = "no :all:" ] || { echo "ERROR: something of the package could run" >&2; exit 9; }
name=\${package%%==*}
echo "$name" >> "${paths.log}"
if [ -s "${paths.index}/$name.hang" ]; then echo $$ >> "${paths.hung}"; sleep 600 & echo $! >> "${paths.left}"; wait; fi
if [ -s "${paths.index}/$name.error" ]; then cat "${paths.index}/$name.error" >&2; exit 1; fi
cp "${paths.index}/$name.whl" "$dir/$(echo "$name" | tr - _)-\${package##*==}-py3-none-any.whl"
`;
}

/** Little-endian numbers, each with its width in bytes. */
function fields(...values: [width: 2 | 4, value: number][]): Uint8Array {
  const buffer = Buffer.alloc(values.reduce((sum, [width]) => sum + width, 0));
  let at = 0;
  for (const [width, value] of values) at = buffer.writeUIntLE(value, at, width);
  return buffer;
}
