// What arguments point at: options, places such as the root folder or the home, devices.
import { posix } from "node:path";
import type { Invocation } from "./invocations.ts";

/** Every known text of every argument. */
export function textsOf({ args }: Invocation): string[] {
  return args.flatMap(({ values }) => values);
}

/** Whether one of the letters stands in a one-dash option, or one of the names in a two-dash one (also shortened). */
export function hasOption(invocation: Invocation, letters: string, names: readonly string[] = []): boolean {
  return textsOf(invocation).some((text) => {
    if (text.startsWith("--")) return text.length > 3 && names.some((name) => name.startsWith(text.slice(2).replace(/=.*/, "")));
    return /^-[A-Za-z]+/.test(text) && [...letters].some((letter) => text.includes(letter));
  });
}

/** The arguments that are no options. */
export function operandsOf(invocation: Invocation): string[] {
  let ended = false;
  return textsOf(invocation).filter((text) => {
    if (text === "--" && !ended) {
      ended = true;
      return false;
    }
    return ended || !/^-./.test(text);
  });
}

/** The root folder, the home, a folder that holds the home, or everything in one of them. */
export function isWholeTree(text: string, { scope, cwd }: Invocation): boolean {
  const path = text.startsWith("/") ? posix.normalize(text) : cwd === undefined ? undefined : posix.join(cwd, text);
  if (path === undefined) return false;
  const steps = path.split("/").filter((step) => step !== "");
  while (steps.length > 0 && isWildcard(steps.at(-1) ?? "")) steps.pop();
  const folder = `/${steps.join("/")}`;
  return folder === "/" || folder === scope.home || scope.home.startsWith(`${folder}/`);
}

/** A block device by its name, also behind `of=`. */
export function isBlockDevice(text: string, { scope }: Invocation): boolean {
  const path = scope.resolve(text.replace(/^(of|--?output|--?of)=/, "")) ?? text;
  return path.startsWith("/dev/") && blockDevice.test(path.slice("/dev/".length));
}

const blockDevice = /^([shv*?[]d[a-z*?[]|xvd[a-z*?[]|nvme[0-9*?[]|mmcblk[0-9*?[]|md[0-9*?[/]|dm-|mapper\/(?!control$)|disk\/|block\/|loop[0-9*?[]|sr[0-9*?[]|nbd[0-9]|zd[0-9]|ram[0-9]|zram[0-9]|pmem[0-9]|r?disk[0-9*?[]|\*)/;

/** Names nothing in particular, so that it matches everything, or everything of one kind such as hidden entries. */
function isWildcard(step: string): boolean {
  return step.includes("*") && !/[A-Za-z0-9]/.test(step.replace(/\[[^\]]*\]/g, ""));
}
