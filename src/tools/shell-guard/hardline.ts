// What is refused at every level without a question (sidecar.md 7.2.1): the end of a disk, of a home or of the machine.
import type { Invocation } from "./invocations.ts";
import { hasOption, isBlockDevice, isWholeTree, operandsOf, textsOf } from "./targets.ts";

/** What it would do, in words; undefined when it is none of these. */
export function hardlineOf(invocation: Invocation): string | undefined {
  return rules.find(([, fits]) => fits(invocation))?.[0];
}

/** Removes folders with all that is in them. */
export function removesRecursively(invocation: Invocation): boolean {
  const { name } = invocation;
  if (/^g?rm$/.test(name)) return hasOption(invocation, "rR", ["recursive"]);
  if (name === "find" || name === "fd") return textsOf(invocation).some((text, at, all) => text === "-delete" || (isExec(text) && /(^|\/)(rm|unlink|shred)$/.test(all[at + 1] ?? "")));
  if (name === "git") return textsOf(invocation).includes("clean") && hasOption(invocation, "f", ["force"]);
  return (name === "rsync" && hasOption(invocation, "", ["delete", "delete-before", "delete-after", "delete-during", "delete-excluded"])) || name === "srm";
}

const rules: [what: string, fits: (invocation: Invocation) => boolean][] = [
  ["recursive removal of the root folder or of the home", removesWholeTree],
  ["making a file system", makesFileSystem],
  ["writing onto a block device", writesDevice],
  ["a fork bomb", isForkBomb],
  ["ending the machine", endsMachine],
];

function isExec(text: string): boolean {
  return /^-(exec|execdir|ok|okdir)$/.test(text);
}

function removesWholeTree(invocation: Invocation): boolean {
  const { name } = invocation;
  if (!removesRecursively(invocation)) return false;
  if (name === "git") return false;
  if (name === "rsync") return isWholeTree(operandsOf(invocation).at(-1) ?? ".", invocation);
  if (name !== "find" && name !== "fd") return operandsOf(invocation).some((text) => isWholeTree(text, invocation));
  const texts = textsOf(invocation);
  const from = texts.findIndex((text) => /^[-(!]/.test(text));
  const tests = texts.slice(from).some((text) => /^-(i?name|i?path|i?regex|i?wholename|size|empty|mtime|mmin|atime|amin|ctime|cmin|newer\w*|user|group|perm|uid|gid|inum|links|samefile)$/.test(text));
  return !tests && texts.slice(0, from).some((text) => isWholeTree(text, invocation));
}

function makesFileSystem(invocation: Invocation): boolean {
  const { name } = invocation;
  if (/^(mkfs(\..+)?|mke2fs|mkdosfs|mkntfs|newfs(_.+)?|mkswap|Format-Volume|Clear-Disk)$/.test(name)) return true;
  if (name === "diskutil") return textsOf(invocation).some((text) => /^(erase|zero|random|secureErase|partition|reformat)/i.test(text));
  if (name === "cryptsetup") return textsOf(invocation).some((text) => /^(luksFormat|erase|luksErase)$/i.test(text));
  return /^(zpool|btrfs|mdadm)$/.test(name) ? textsOf(invocation).some((text) => /^(create|--create)$/.test(text)) && textsOf(invocation).some((text) => isBlockDevice(text, invocation)) : false;
}

const deviceWriters = /^(dd|gdd|dc3dd|dcfldd|ddrescue|cp|mv|install|tee|sponge|shred|wipefs|blkdiscard|sgdisk|gdisk|fdisk|sfdisk|cfdisk|parted|partprobe|badblocks|hdparm|nvme|pvcreate|vgcreate|pv|truncate|ln|rsync|fallocate|scrub|nwipe|flashcp|bmaptool)$/;
const onlyLooks = /^(-l|--list|-V|--version|-h|--help|print)$/;

function writesDevice(invocation: Invocation): boolean {
  const { redirections, name } = invocation;
  if (redirections.some(({ operator, target }) => operator.includes(">") && target.values.concat(target.shape).some((text) => isBlockDevice(text, invocation)))) return true;
  if (!deviceWriters.test(name) || textsOf(invocation).some((text) => onlyLooks.test(text))) return false;
  const texts = textsOf(invocation);
  if (/^(dd|gdd|dc3dd|dcfldd)$/.test(name)) return texts.some((text) => text.startsWith("of=") && isBlockDevice(text, invocation));
  if (/^(cp|mv|install|rsync|ln|ddrescue)$/.test(name)) return isBlockDevice(operandsOf(invocation).at(name === "ddrescue" ? 1 : -1) ?? "", invocation) || texts.some((text) => text.startsWith("--target-directory=") && isBlockDevice(text.replace(/^[^=]*=/, ""), invocation));
  return name === "pv" ? false : operandsOf(invocation).some((text) => isBlockDevice(text, invocation));
}

function isForkBomb({ name, inFunction, piped, pipes, background, args }: Invocation): boolean {
  if (inFunction !== undefined && name === inFunction && (piped || pipes || background)) return true;
  return args.some(({ values }) => values.some((text) => /\bfork\b[\s();]*(while|until)\b|\b(while|loop|for)\b[^\n]{0,40}\bfork\b/.test(text))) && /^(perl|ruby|python[0-9.]*|php|node)$/.test(name);
}

function endsMachine(invocation: Invocation): boolean {
  const { name, redirections } = invocation;
  const texts = textsOf(invocation);
  if (/^(shutdown|reboot|halt|poweroff|Stop-Computer|Restart-Computer)$/.test(name)) return true;
  if (name === "init" || name === "telinit") return texts.some((text) => /^[06]$/.test(text));
  if (name === "systemctl" || name === "loginctl") return texts.some((text) => /^(poweroff|reboot|halt|kexec|soft-reboot|(poweroff|reboot|halt|shutdown)\.target)$/.test(text));
  if (name === "osascript") return texts.some((text) => /shut down|restart/i.test(text));
  if (name === "dbus-send" || name === "busctl" || name === "gdbus") return texts.some((text) => /\b(PowerOff|Reboot|Halt)\b/.test(text));
  const outputs = redirections.filter(({ operator }) => operator.includes(">")).flatMap(({ target }) => target.values);
  return (name === "tee" ? [...outputs, ...texts] : outputs).some((text) => text.endsWith("/sysrq-trigger"));
}
